import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromUnknown, type TRPCRequestInfo } from '@trpc/server/http';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { mapMaybePromise, isThenable, type MaybePromise } from '../../http/maybePromise.ts';
import { nextTurn, unref, type Timer } from '../../http/eventLoop.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { defaultMessageBytes } from '../../http/service.ts';
import type { SocketHandler, WebSocketPeer } from '../../http/webSocket.ts';
import { CallContext, type RequestContext } from '../../calls/requestContext.ts';
import { Failure, failureOf, readableCause } from '../../procedures/execute.ts';
import { ResponseControls } from '../../http/response.ts';
import type { SocketSettings } from './options.ts';
import { withParameters } from './trpcRequest.ts';
import { maxUnsentBytes, noCall, Socket, type CallInfo } from './socket.ts';
import { SocketCall } from './socketCall.ts';

/** Whether the first message of a socket is its connection parameters: its URL has `connectionParams=1`, as in tRPC. */
export const expectsConnectionParams = ({ query }: HttpRequest): boolean =>
  new URLSearchParams(query).get('connectionParams') === '1';

/** Time for which a client may keep the connection open after it has closed the socket, in milliseconds. */
const connectionCloseTimeoutMs = 18_000;

/**
 * Returns the close code and reason for a socket whose credential was rejected (RFC 6455 §7.4.1; 1013 is in IANA's
 * registry).
 */
function closeReason({ code }: TRPCError): [code: number, reason: string] {
  if (code === 'SERVICE_UNAVAILABLE' || code === 'TOO_MANY_REQUESTS') return [1013, 'Try again later.'];
  return code === 'UNAUTHORIZED' || code === 'FORBIDDEN'
    ? [1008, 'The credential is missing or not valid.']
    : [1011, 'The credential could not be verified.'];
}

/**
 * Bytes that a socket may buffer, received or unsent, before its credential is checked: as many as a message may have.
 */
const maxUnauthenticatedBytes = defaultMessageBytes;

/** Time that a socket has to send its credential as connection parameters, in milliseconds. */
const credentialDeadlineMs = 5000;

type ConnectionParams = TRPCRequestInfo['connectionParams'];

/** One WebSocket connection: checks its credential, creates its context, enforces its limits and closes it. */
export class SocketConnection extends Socket implements SocketHandler {
  readonly #onClosed: () => void;
  #onChecked: (() => void) | undefined;
  /** The signal of `createContext`: aborts when the socket is closed. */
  readonly #closing = new AbortController();
  /** Whether the next message is the connection parameters. */
  #awaitsParameters: boolean;
  /**
   * Messages that wait for the context. Not parsed yet, since each may be thousands of calls. `undefined` afterwards.
   */
  #heldMessages: (string | Buffer)[] | undefined = [];
  #heldBytes = 0;
  /** Resolves when the held messages are served. */
  #begun: Promise<void> | undefined;
  #credentialTimer: Timer | undefined;
  #keepAliveTimer: Timer | undefined;
  #drainTimer: Timer | undefined;
  #endWatch = () => {};

  /**
   * @param context the context of the request that opened the socket
   * @param onChecked called when the credential is checked or the socket is closed, if the credential comes with the
   *   first message
   */
  constructor(
    peer: WebSocketPeer,
    settings: SocketSettings,
    context: RequestContext,
    onClosed: () => void,
    onChecked: (() => void) | undefined,
  ) {
    super(peer, settings, context);
    this.#onClosed = onClosed;
    this.#onChecked = onChecked;
    this.#awaitsParameters = expectsConnectionParams(context.request);
    this.#keepAlive();
    if (onChecked) {
      this.unsentLimit = maxUnauthenticatedBytes;
      this.#credentialTimer = unref(
        setTimeout(() => {
          settings.failedAttempts?.countSilent(context.request);
          this.close(1008, 'No credential was received in time.');
        }, credentialDeadlineMs),
      );
    }
    if (!this.#awaitsParameters) this.#begun = this.#begin(null);
  }

  message(data: Buffer, isBinary: boolean): void {
    if (!this.isOpen) return;
    this.#keepAlive();
    const message = isBinary ? data : data.toString();
    if (message === 'PING') this.send('PONG');
    if (message === 'PING' || message === 'PONG') return;
    if (this.#awaitsParameters) {
      this.#awaitsParameters = false;
      this.#readParameters(message);
    } else if (this.#heldMessages) {
      this.#heldBytes += data.byteLength;
      if (this.#heldBytes <= maxUnauthenticatedBytes) this.#heldMessages.push(message);
      else this.close(1008, 'Too much data was sent before the credential was verified.');
    } else {
      for (const call of this.#read(message)) call.start();
    }
  }

  async closed(isInOrder = false): Promise<void> {
    // A client that closes its socket before it is authenticated may keep the connection open, so the socket counts as
    // waiting for that long. An adapter limits the connections of the sockets that it closes itself.
    if (isInOrder && this.isOpen && this.#onChecked) {
      unref(setTimeout(this.#onChecked, connectionCloseTimeoutMs));
      this.#onChecked = undefined;
    }
    this.#endWaiting();
    this.isOpen = false;
    this.#heldMessages &&= [];
    this.#endWatch();
    clearTimeout(this.#keepAliveTimer);
    clearTimeout(this.#drainTimer);
    const reason = new DOMException('The client disconnected.', 'AbortError');
    for (const call of [...this.running, ...this.subscriptions.values()]) call.abort(reason);
    this.#closing.abort();
    this.#onClosed();
    await this.idle();
  }

  drain(graceMs: number): void {
    this.isDraining = true;
    void this.#endWhenIdle(graceMs);
  }

  async #endWhenIdle(graceMs: number): Promise<void> {
    await this.#callsEnded();
    this.reconnect();
    if (!this.isOpen) return;
    // Calls that the client sent before it received the request are answered until then.
    await new Promise<void>((resolve) => {
      this.#drainTimer = setTimeout(() => nextTurn(resolve), graceMs);
    });
    await this.#callsEnded();
    if (this.isOpen) this.close(1001, 'The server is stopping.');
  }

  /** Resolves when the calls that have arrived have ended, also those that wait for the context. */
  async #callsEnded(): Promise<void> {
    if (this.#heldMessages?.length) await this.#begun;
    await this.idle();
  }

  #readParameters(message: string | Buffer): void {
    clearTimeout(this.#credentialTimer);
    if (!this.#onChecked) void this.#charge();
    try {
      const decoded = decode(message);
      if (!isObject(decoded)) throw new Error('Message was not an object');
      this.#begun = this.#begin(parseConnectionParamsFromUnknown(decoded.data));
    } catch (cause) {
      const text = 'Malformed TRPCConnectionParamsMessage';
      const isShape = cause instanceof TRPCError;
      this.#end(
        isShape ? cause : new TRPCError({ code: 'PARSE_ERROR', message: text, cause: readableCause(cause) }),
      );
    }
  }

  /**
   * Authenticates the client if the request that opened the socket did not, creates the context, and serves the held
   * messages. It never rejects.
   */
  async #begin(connectionParams: ConnectionParams): Promise<void> {
    if (this.#onChecked) {
      const credentials = withParameters(this.context.request, connectionParams);
      this.context.target = { ...this.context.target, credentials };
      const rejection = await this.settings.admit(this.context);
      this.#endWaiting();
      if (rejection) return this.#end(rejection, ...closeReason(rejection));
      if (!this.isOpen) return;
    }
    // Not earlier: `watch` reads the credential that the policies have set.
    this.#endWatch = this.settings.watch(this.context, () =>
      this.close(1008, 'The credential is no longer valid.'),
    );
    const ctx = await this.#createContext(connectionParams);
    if (ctx instanceof Failure) this.contextError = ctx.error;
    else this.ctx = ctx;
    // All messages are read before the first call starts, since one may stop a subscription that another starts.
    const held = this.#heldMessages ?? [];
    this.#heldMessages = undefined;
    const calls = held.flatMap((message) => (this.isOpen ? this.#read(message) : []));
    if (this.contextError) this.#end(this.contextError);
    for (const call of calls) call.start();
  }

  /** @returns the context, or a `Failure` */
  async #createContext(connectionParams: ConnectionParams): Promise<unknown> {
    const { identity, request, requestId } = this.context;
    const { signal } = this.#closing;
    const type = 'unknown';
    try {
      const ctx = this.settings.createContext({
        request,
        identity,
        // Headers are dropped: no response uses them, and they would accumulate as long as the socket is open.
        response: Object.assign(new ResponseControls(), { header() {}, append() {} }),
        requestId,
        data: this.context.data,
        idempotencyKey: undefined,
        info: { connectionParams, signal, type, calls: [], isBatchCall: false, accept: null, url: null },
      });
      if (!isThenable(ctx)) return ctx;
      return await new Promise((resolve) => this.settings.calls.wait(ctx, new CallContext(request), resolve));
    } catch (cause) {
      return failureOf(cause);
    }
  }

  /**
   * Parses a message into calls, and charges each to the rate limit. A message without a call, or a malformed one, is
   * charged as one call.
   */
  #read(message: string | Buffer): readonly SocketCall[] {
    const parts = this.#parse(message);
    const charged = parts?.find((part) => part.id !== null && part.method !== 'subscription.stop');
    const exceeded = this.#charge(charged);
    const calls: SocketCall[] = [];
    let isAllCalls = parts !== undefined;
    if (!parts) this.record(new TRPCError({ code: 'BAD_REQUEST' }));
    const batch = parts && parts.length > 1 ? { bytes: 0 } : undefined;
    let index = -1;
    // Not with `entries()`, which costs 3% of a query.
    for (const part of parts ?? []) {
      index += 1;
      const { id, jsonrpc, method } = part;
      if (id === null) {
        isAllCalls = false;
        const error = new TRPCError({ code: 'PARSE_ERROR', message: '`id` is required' });
        this.#reject({ ...noCall, jsonrpc }, error);
      } else if (method === 'subscription.stop') {
        this.subscriptions.get(id)?.abort();
      } else {
        const rejection = part === charged ? exceeded : this.#charge(part);
        const call = new SocketCall(this, id, part, index, rejection, batch);
        isAllCalls &&= call.procedure !== undefined;
        const isSubscription = method === 'subscription';
        if (isSubscription && this.subscriptions.has(id)) {
          this.#reject(call, new TRPCError({ code: 'BAD_REQUEST', message: `Duplicate id ${id}` }));
          continue;
        }
        // Registered before it starts, so that a later message, even of the same batch, can stop it.
        if (isSubscription) this.subscriptions.set(id, call);
        calls.push(call);
      }
    }
    // A rejected call gets an error. For anything else, close the socket: otherwise it would exceed the limit at no
    // cost.
    if (exceeded && !isAllCalls) {
      void mapMaybePromise(exceeded, (error) => error && this.close(1013, 'Try again later.'));
    }
    return calls;
  }

  /** Parses a message. For a malformed one, sends an error and returns `undefined`. */
  #parse(message: string | Buffer): readonly TRPCClientOutgoingMessage[] | undefined {
    const { config, trpc } = this.settings;
    try {
      const decoded = decode(message);
      if (!Array.isArray(decoded)) return [parseTRPCMessage(decoded, config.transformer)];
      if (decoded.length <= trpc.maxBatchSize)
        return decoded.map((part) => parseTRPCMessage(part, config.transformer));
      this.#rejectBatch(decoded);
    } catch (cause) {
      // As in tRPC's handler, `onError` is not called.
      this.sendShape(
        noCall,
        this.shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause: readableCause(cause) })),
      );
    }
    return undefined;
  }

  /** Sends an error for each call of a batch that is too large. */
  #rejectBatch(parts: readonly unknown[]): void {
    const error = new TRPCError({ code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    const shape = this.shapeOf(noCall, this.reportError(noCall, error));
    const calls = parts.flatMap((part): CallInfo[] => {
      if (!isObject(part) || part['method'] === 'subscription.stop') return [];
      const { id, jsonrpc } = part;
      if (typeof id !== 'number' && typeof id !== 'string') return [];
      return [{ ...noCall, id, jsonrpc: jsonrpc === '2.0' ? jsonrpc : undefined }];
    });
    for (const call of calls.length > 0 ? calls : [noCall]) this.sendShape(call, shape);
  }

  /** Charges a call, or a message without a call, to the rate limit. */
  #charge(part?: TRPCClientOutgoingMessage): MaybePromise<TRPCError | undefined> {
    const { procedures, rateLimit } = this.settings;
    if (rateLimit === undefined) return undefined;
    const path = part && 'params' in part ? part.params.path : '';
    return rateLimit.count(this.context, procedures.get(path)?.rateLimitCost ?? 1);
  }

  /** Records an error outside of a call, and sends it to the client. */
  #reject(call: CallInfo, error: TRPCError): void {
    this.record(error);
    this.reportAndSendError(call, error);
  }

  /** Sends an error and closes the socket. */
  #end(error: TRPCError, code?: number, reason?: string): void {
    this.#reject(noCall, error);
    nextTurn(() => this.close(code, reason));
  }

  /** Stops counting the socket as waiting for its credential. */
  #endWaiting(): void {
    clearTimeout(this.#credentialTimer);
    this.#onChecked?.();
    this.#onChecked = undefined;
    this.unsentLimit = maxUnsentBytes;
  }

  /**
   * Restarts the timer that pings the client after silence, and ends the connection if there is no reaction. Called for
   * each message.
   */
  #keepAlive(): void {
    const { keepAlive } = this.settings;
    if (!keepAlive?.enabled) return;
    const { pingMs = 30_000, pongWaitMs = 5000 } = keepAlive;
    clearTimeout(this.#keepAliveTimer);
    this.#keepAliveTimer = setTimeout(() => {
      this.send('PING');
      this.#keepAliveTimer = setTimeout(() => this.peer.terminate(), pongWaitMs);
    }, pingMs);
  }
}

/** Parses JSON. A binary message is an error, with tRPC's message. */
function decode(message: string | Buffer): unknown {
  if (typeof message === 'string') return JSON.parse(message);
  const text = 'JSON uses text frames. Use a binary encoder for binary data.';
  throw new Error(`jsonEncoder received binary data. ${text}`);
}
