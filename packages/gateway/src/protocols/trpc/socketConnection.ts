import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromUnknown, type TRPCRequestInfo } from '@trpc/server/http';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { mapMaybePromise, isThenable, type MaybePromise } from '../../http/maybePromise.ts';
import { nextTurn, unref, type Timer } from '../../http/eventLoop.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { turn } from '../../http/turn.ts';
import type { SocketHandler, SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import { CallContext, type RequestContext } from '../../calls/requestContext.ts';
import { Failure, failureOf, readableCause } from '../../procedures/execute.ts';
import { ResponseControls } from '../../http/response.ts';
import type { SocketSettings } from './options.ts';
import { withParameters } from './trpcRequest.ts';
import { MessageQueue, type Message } from './messageQueue.ts';
import { noCall, type CallInfo } from './openCalls.ts';
import { Socket } from './socket.ts';
import { SocketCall, type CallMessage } from './socketCall.ts';
import {
  connectionCloseTimeoutMs,
  credentialDeadlineMs,
  maxMalformedMessages,
  maxSocketUnsentBytes,
  maxUnauthenticatedBytes,
  messageTooLarge,
} from './socketLimits.ts';

/** Whether the first message of a socket is its connection parameters: its URL has `connectionParams=1`, as in tRPC. */
export const expectsConnectionParams = ({ query }: HttpRequest): boolean =>
  new URLSearchParams(query).get('connectionParams') === '1';

/** Returns the close code and reason for a socket whose credential was rejected (RFC 6455 §7.4.1; IANA's registry: 1013). */
function closeReason({ code }: TRPCError): [code: number, reason: string] {
  if (code === 'SERVICE_UNAVAILABLE' || code === 'TOO_MANY_REQUESTS') return [1013, 'Try again later.'];
  return code === 'UNAUTHORIZED' || code === 'FORBIDDEN'
    ? [1008, 'The credential is missing or not valid.']
    : [1011, 'The credential could not be verified.'];
}

type ConnectionParams = TRPCRequestInfo['connectionParams'];

/** One WebSocket connection: checks its credential, creates its context, reads its messages, and closes it. */
export class SocketConnection implements SocketHandler {
  readonly #socket: Socket;
  readonly #queue: MessageQueue;
  readonly #keepAlive: KeepAlive | undefined;
  #onChecked: (() => void) | undefined;
  /** The signal of `createContext`: aborts when the socket is closed. */
  readonly #closing = new AbortController();
  /** Whether the next message is the connection parameters. */
  #awaitsParameters: boolean;
  #malformedMessages = 0;
  /** Resolves when the context exists. */
  #begun: Promise<void> | undefined;
  #credentialTimer: Timer | undefined;
  #drainTimer: Timer | undefined;
  #endWatch = () => {};

  /** @param onChecked called after the check of a credential in the first message, or at the close */
  constructor(
    peer: WebSocketPeer,
    settings: SocketSettings,
    context: RequestContext,
    onChecked: (() => void) | undefined,
  ) {
    const socket = new Socket(peer, settings, context);
    this.#socket = socket;
    this.#onChecked = onChecked;
    this.#awaitsParameters = expectsConnectionParams(context.request);
    this.#queue = new MessageQueue(this, socket, !this.#awaitsParameters);
    if (settings.keepAlive?.enabled) this.#keepAlive = new KeepAlive(socket, settings.keepAlive);
    if (onChecked) {
      socket.unsentLimit = maxUnauthenticatedBytes;
      this.#credentialTimer = unref(
        setTimeout(() => {
          settings.failedAttempts?.countSilentSocket(context.request);
          socket.close(1008, 'No credential was received in time.');
        }, credentialDeadlineMs),
      );
    }
    if (!this.#awaitsParameters) this.#begun = this.#begin(null);
  }

  get inFlight(): number {
    return this.#socket.running.length;
  }

  message(data: Buffer, isBinary: boolean): void {
    if (!this.#socket.isOpen) return;
    this.#keepAlive?.restart();
    this.#queue.add({ data, isBinary });
  }

  pinged(): void {
    this.#socket.pinged();
  }

  drained(): void {
    this.#socket.drained();
  }

  limited(limit: SocketLimit): void {
    this.#socket.limited(limit);
  }

  /** Receives a message whose turn it is. */
  receive(message: Message): void {
    const { data, isBinary } = message;
    const text = !isBinary && data.byteLength === 4 ? data.toString() : '';
    if (text === 'PING') this.#socket.send('PONG');
    if (text === 'PING' || text === 'PONG') return;
    if (this.#awaitsParameters) {
      this.#awaitsParameters = false;
      this.#queue.isBlocked = true;
      this.#readParameters(message);
    } else if (this.#queue.isBlocked) this.#queue.hold(message);
    else this.#read(message);
  }

  async closed(isInOrder = false): Promise<void> {
    // A client that closes its socket before it is authenticated may keep the connection open, so the socket counts as
    // waiting for that long. An adapter limits the connections of the sockets that it closes itself.
    const socket = this.#socket;
    if (isInOrder && socket.isOpen && this.#onChecked) {
      unref(setTimeout(this.#onChecked, connectionCloseTimeoutMs));
      this.#onChecked = undefined;
    }
    this.#endWaiting();
    socket.isOpen = false;
    this.#queue.clear();
    this.#endWatch();
    this.#keepAlive?.end();
    clearTimeout(this.#drainTimer);
    const reason = new DOMException('The client disconnected.', 'AbortError');
    socket.settings.starts.delete(socket);
    const subscriptions = socket.subscriptions.all();
    for (const call of [...socket.running, ...subscriptions]) call.abort(reason);
    for (const call of subscriptions) call.subscription?.endStart();
    this.#closing.abort();
    await socket.idle();
  }

  drain(graceMs: number): void {
    this.#socket.isDraining = true;
    void this.#endWhenIdle(graceMs);
  }

  async #endWhenIdle(graceMs: number): Promise<void> {
    await this.#callsEnded();
    this.#socket.reconnect();
    if (!this.#socket.isOpen) return;
    // Calls that the client sent before it received the request are answered until then.
    await new Promise<void>((resolve) => {
      this.#drainTimer = setTimeout(() => nextTurn(resolve), graceMs);
    });
    await this.#callsEnded();
    if (this.#socket.isOpen) this.#socket.close(1001, 'The server is stopping.');
  }

  /** Resolves when the calls that have arrived have ended, also those that wait. */
  async #callsEnded(): Promise<void> {
    while (this.#socket.isOpen && this.#queue.hasWork) {
      await this.#begun;
      await new Promise<void>((resolve) => nextTurn(resolve));
    }
    await this.#socket.idle();
  }

  #readParameters(message: Message): void {
    clearTimeout(this.#credentialTimer);
    if (message.data.byteLength > maxUnauthenticatedBytes) {
      this.#socket.limited('message-bytes');
      this.#socket.close(1009, `The connection parameters are larger than ${maxUnauthenticatedBytes} bytes.`);
      return;
    }
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

  /** Authenticates the client if the upgrade did not, creates the context, and serves waiting messages. It never rejects. */
  async #begin(connectionParams: ConnectionParams): Promise<void> {
    const socket = this.#socket;
    const { context, settings } = socket;
    if (this.#onChecked) {
      const credentials = withParameters(context.request, connectionParams);
      context.target = { ...context.target, credentials };
      const rejection = await settings.admit(context);
      this.#endWaiting();
      if (rejection) return this.#end(rejection, ...closeReason(rejection));
      if (!socket.isOpen) return;
    }
    // Not earlier: `watch` reads the credential that the policies have set.
    this.#endWatch = settings.watch(context, () => socket.close(1008, 'The credential is no longer valid.'));
    const ctx = await this.#createContext(connectionParams);
    if (ctx instanceof Failure) socket.contextError = ctx.error;
    else socket.ctx = ctx;
    this.#queue.isBlocked = false;
    // Before the calls, since a message may stop a subscription that another one starts.
    this.#queue.receiveWaiting();
    if (socket.contextError) this.#end(socket.contextError);
    this.#queue.startCalls();
  }

  /** @returns the context, or a `Failure` */
  async #createContext(connectionParams: ConnectionParams): Promise<unknown> {
    const { identity, request, requestId, via } = this.#socket.context;
    const { signal } = this.#closing;
    const type = 'unknown';
    try {
      const ctx = this.#socket.settings.createContext({
        request,
        identity,
        via,
        // Headers are dropped: no response uses them, and they would accumulate as long as the socket is open.
        response: Object.assign(new ResponseControls(), { header() {}, append() {} }),
        requestId,
        data: this.#socket.context.data,
        idempotencyKey: undefined,
        info: { connectionParams, signal, type, calls: [], isBatchCall: false, accept: null, url: null },
      });
      if (!isThenable(ctx)) return ctx;
      return await new Promise((resolve) =>
        this.#socket.settings.calls.wait(ctx, new CallContext(request), resolve),
      );
    } catch (cause) {
      return failureOf(cause);
    }
  }

  /** Parses a message into calls, and charges each to the rate limit; a message without a call, or malformed, as one. */
  #read(message: Message): void {
    const { parts, decoded } = this.#parse(message) ?? {};
    const socket = this.#socket;
    const { limits, rateLimit } = socket.settings;
    /** The error of the first charge. */
    let exceeded: MaybePromise<TRPCError | undefined>;
    let isCharged = false;
    let isAllCalls = parts !== undefined;
    const { maxBodySize } = limits;
    const tooLarge = message.data.byteLength > maxBodySize ? messageTooLarge(maxBodySize) : undefined;
    if (!parts) socket.record(tooLarge ?? new TRPCError({ code: 'BAD_REQUEST' }));
    const batch = parts && parts.length > 1 ? { bytes: 0 } : undefined;
    let index = -1;
    // Not with `entries()`, which costs 3% of a query.
    for (const part of parts ?? []) {
      index += 1;
      const { id, jsonrpc, method } = part;
      if (id === null) {
        isAllCalls = false;
        const error = new TRPCError({ code: 'PARSE_ERROR', message: '`id` is required' });
        this.#rejectPart({ ...noCall, jsonrpc }, error);
      } else if (method === 'subscription.stop') {
        socket.subscriptions.get(id)?.abort();
      } else {
        const isSubscription = method === 'subscription';
        const charge = rateLimit && this.#charge(part);
        if (!isCharged) exceeded = charge;
        isCharged = true;
        const bytes = isSubscription ? bytesOfPart(message, decoded, index) : 0;
        const full = isSubscription ? socket.subscriptions.fullError(bytes) : this.#queue.fullError();
        // The id was checked above. Of the errors, not the charge first: with a shared state it is a promise.
        const call = new SocketCall(socket, part as CallMessage, index, batch);
        call.rejection = tooLarge ?? full ?? charge;
        isAllCalls &&= call.procedure !== undefined;
        if (isSubscription && socket.subscriptions.get(id)) {
          this.#rejectPart(call, new TRPCError({ code: 'BAD_REQUEST', message: `Duplicate id ${id}` }));
          continue;
        }
        // Registered before it starts, so that a later message, even of the same batch, can stop it.
        if (call.subscription && !full) socket.subscriptions.add(id, call, bytes);
        this.#queue.push(call);
      }
    }
    if (!isCharged) exceeded = this.#charge();
    // A rejected call gets an error. Anything else closes the socket: it would exceed the limit at no cost.
    if (exceeded && !isAllCalls) this.#queue.push(closing(socket, exceeded));
  }

  /** Parses a message. For a malformed one, sends an error and returns `undefined`. */
  #parse(message: Message): ParsedMessage | undefined {
    const { transformer } = this.#socket.settings.config;
    try {
      const decoded = decode(message);
      return Array.isArray(decoded)
        ? { parts: decoded.map((part) => parseTRPCMessage(part, transformer)), decoded }
        : { parts: [parseTRPCMessage(decoded, transformer)], decoded: undefined };
    } catch (cause) {
      // As in tRPC's handler, `onError` is not called.
      this.#socket.sendShape(
        noCall,
        this.#socket.shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause: readableCause(cause) })),
      );
    }
    this.#malformedMessages += 1;
    if (this.#malformedMessages > maxMalformedMessages) {
      this.#socket.limited('messages');
      this.#socket.close(1008, `More than ${maxMalformedMessages} messages could not be parsed.`);
    }
    return undefined;
  }

  /** Charges a call, or a message without a call, to the rate limit. */
  #charge(part?: TRPCClientOutgoingMessage): MaybePromise<TRPCError | undefined> {
    const { procedures, rateLimit } = this.#socket.settings;
    if (rateLimit === undefined) return undefined;
    const path = part && 'params' in part ? part.params.path : '';
    return rateLimit.count(this.#socket.context, procedures.get(path)?.rateLimitCost ?? 1);
  }

  /** Rejects a part of a message, of which there may be thousands: later, if the budget of the turn is spent. */
  #rejectPart(call: CallInfo, error: TRPCError): void {
    if (turn.spend()) this.#queue.push({ start: () => this.#reject(call, error) });
    else this.#reject(call, error);
  }

  #reject(call: CallInfo, error: TRPCError): void {
    this.#socket.record(error);
    this.#socket.reportAndSendError(call, error);
  }

  #end(error: TRPCError, code?: number, reason?: string): void {
    this.#reject(noCall, error);
    nextTurn(() => this.#socket.close(code, reason));
  }

  /** Stops counting the socket as waiting for its credential. */
  #endWaiting(): void {
    clearTimeout(this.#credentialTimer);
    this.#onChecked?.();
    this.#onChecked = undefined;
    this.#socket.unsentLimit = maxSocketUnsentBytes;
  }
}

/** Closes a socket, instead of a call, if its client has exceeded the rate limit. */
const closing = (socket: Socket, exceeded: MaybePromise<TRPCError | undefined>) => ({
  start() {
    void mapMaybePromise(exceeded, (error) => error && socket.close(1013, 'Try again later.'));
  },
});

/** Pings a client after silence, and ends the connection if there is no reaction. */
class KeepAlive {
  readonly #socket: Socket;
  readonly #pingMs: number;
  readonly #pongWaitMs: number;
  #timer: Timer | undefined;

  constructor(
    socket: Socket,
    { pingMs = 30_000, pongWaitMs = 5000 }: NonNullable<SocketSettings['keepAlive']>,
  ) {
    this.#socket = socket;
    this.#pingMs = pingMs;
    this.#pongWaitMs = pongWaitMs;
    this.restart();
  }

  /** Called for each message. */
  restart(): void {
    this.end();
    this.#timer = setTimeout(() => {
      this.#socket.send('PING');
      this.#timer = setTimeout(() => this.#socket.peer.terminate(), this.#pongWaitMs);
    }, this.#pingMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

interface ParsedMessage {
  readonly parts: readonly TRPCClientOutgoingMessage[];
  /** The parts of an array, before the transformer. */
  readonly decoded: readonly unknown[] | undefined;
}

/** Returns the size of a part, whose input a subscription keeps: its own, since those of an array differ. */
const bytesOfPart = ({ data }: Message, decoded: readonly unknown[] | undefined, index: number): number =>
  decoded === undefined ? data.byteLength : JSON.stringify(decoded[index]).length;

/** Parses JSON. A binary message is an error, with tRPC's message. */
function decode({ data, isBinary }: Message): unknown {
  if (!isBinary) return JSON.parse(data.toString());
  const text = 'JSON uses text frames. Use a binary encoder for binary data.';
  throw new Error(`jsonEncoder received binary data. ${text}`);
}
