import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromUnknown, type TRPCRequestInfo } from '@trpc/server/http';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { mapMaybePromise, isThenable, type MaybePromise } from '../../http/maybePromise.ts';
import { nextTurn, unref, type Timer } from '../../http/eventLoop.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { turn } from '../../http/turn.ts';
import type { SocketHandler, WebSocketPeer } from '../../http/webSocket.ts';
import { CallContext, type RequestContext } from '../../calls/requestContext.ts';
import { Failure, failureOf, readableCause } from '../../procedures/execute.ts';
import { ResponseControls } from '../../http/response.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { maxMessageSizeOf, type SocketSettings } from './options.ts';
import { withParameters } from './trpcRequest.ts';
import {
  maxCallsPerSocket,
  maxSocketUnsentBytes,
  noCall,
  Socket,
  tooManyCalls,
  tooManySubscriptionBytes,
  type CallInfo,
} from './socket.ts';
import { SocketCall, type CallMessage } from './socketCall.ts';

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
 * Bytes of unsent data, and of the connection parameters, that a socket may have before its credential is checked.
 */
const maxUnauthenticatedBytes = 65_536;

/** Maximum number of messages of a socket that wait for the context or for a later turn of the event loop. */
const maxWaitingMessages = 5000;

/** Number of calls that wait from which on no further message is read. */
const maxReadCalls = 1000;

/** Maximum number of messages of a socket that cannot be parsed. Clients send none. */
const maxMalformedMessages = 100;

/** Maximum number of waiting messages, and of calls, that a socket is served before others have their turn. */
const maxPerSlice = 100;

/** Time that a socket has to send its credential as connection parameters, in milliseconds. */
const credentialDeadlineMs = 5000;

type ConnectionParams = TRPCRequestInfo['connectionParams'];

/** Functions that learn of the state of a connection. */
interface ConnectionListeners {
  readonly onClosed: () => void;
  /** Called when the credential is checked or the socket is closed, if the credential comes with the first message. */
  readonly onChecked: (() => void) | undefined;
}

/** One WebSocket connection: checks its credential, creates its context, enforces its limits and closes it. */
export class SocketConnection extends Socket implements SocketHandler {
  readonly #onClosed: () => void;
  #onChecked: (() => void) | undefined;
  /** The signal of `createContext`: aborts when the socket is closed. */
  readonly #closing = new AbortController();
  /** Whether the next message is the connection parameters. */
  #awaitsParameters: boolean;
  /** Whether the context exists, so that calls can start. */
  #isReady = false;
  /**
   * Messages that wait for the context or for a later turn. Not parsed yet, since each may be thousands of calls.
   */
  #messages: Message[] = [];
  /** Index of the next message in `#messages`. */
  #nextMessage = 0;
  #waitingBytes = 0;
  /** The error of subscriptions whose inputs are too large together. */
  #bytesError: LimitError | undefined;
  #malformedMessages = 0;
  /**
   * Calls that wait for a later turn, or for messages after them to be read, since one of these may stop a subscription.
   */
  #calls: { start(): void }[] = [];
  /** Index of the next call in `#calls`. */
  #nextCall = 0;
  /** Whether `#work` is scheduled. */
  #isScheduled = false;
  /** Resolves when the context exists. */
  #begun: Promise<void> | undefined;
  #credentialTimer: Timer | undefined;
  #keepAliveTimer: Timer | undefined;
  #drainTimer: Timer | undefined;
  #endWatch = () => {};

  /** @param context the context of the request that opened the socket */
  constructor(
    peer: WebSocketPeer,
    settings: SocketSettings,
    context: RequestContext,
    { onChecked, onClosed }: ConnectionListeners,
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
          settings.failedAttempts?.countSilentSocket(context.request);
          this.close(1008, 'No credential was received in time.');
        }, credentialDeadlineMs),
      );
    }
    if (!this.#awaitsParameters) this.#begun = this.#begin(null);
  }

  message(data: Buffer, isBinary: boolean): void {
    if (!this.isOpen) return;
    this.#keepAlive();
    if (turn.spend() || (this.#canWork && this.#hasWork)) this.#hold({ data, isBinary });
    else {
      this.#receive({ data, isBinary });
      if (this.#isReady) this.#startCalls();
    }
  }

  /** Whether messages that wait can be received: not while the context is awaited. */
  get #canWork(): boolean {
    return this.#isReady || this.#awaitsParameters;
  }

  get #hasWork(): boolean {
    return this.#nextMessage < this.#messages.length || this.#nextCall < this.#calls.length;
  }

  #hold(message: Message): void {
    this.#waitingBytes += message.data.byteLength;
    const isFull = this.#messages.length - this.#nextMessage >= maxWaitingMessages;
    if (isFull || this.#waitingBytes > maxMessageSizeOf(this.settings.limits)) {
      this.limited('messages');
      this.close(1008, 'Too many messages were sent at once.');
      return;
    }
    this.#messages.push(message);
    if (this.#canWork) this.#schedule();
  }

  /** Continues in a later turn. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.peer.pause?.();
    turn.later(this.#work);
  }

  readonly #work = (): void => {
    this.#isScheduled = false;
    this.#receiveWaiting(maxPerSlice);
    this.#startCalls(maxPerSlice);
    if (this.isOpen && this.#canWork && this.#hasWork) this.#schedule();
    else this.peer.resume?.();
  };

  /** Receives at most so many messages that wait, within the budget of the turn. */
  #receiveWaiting(most = Infinity): void {
    for (
      let count = 0;
      this.isOpen && this.#canWork && this.#nextMessage < this.#messages.length;
      count += 1
    ) {
      // Each message may be thousands of calls.
      if (this.#calls.length - this.#nextCall >= maxReadCalls) return;
      if (count === most || (count > 0 && turn.spend())) return this.#schedule();
      const message = this.#messages[this.#nextMessage] as Message;
      this.#nextMessage += 1;
      this.#waitingBytes -= message.data.byteLength;
      if (this.#nextMessage === this.#messages.length) {
        this.#messages = [];
        this.#nextMessage = 0;
      }
      this.#receive(message);
    }
  }

  /** Starts at most so many calls that wait, within the budget of the turn, if no message waits. */
  #startCalls(most = Infinity): void {
    for (let count = 0; !this.#isScheduled && this.#nextCall < this.#calls.length; count += 1) {
      if (count === most || (count > 0 && turn.spend())) return this.#schedule();
      const calls = this.#calls;
      const call = calls[this.#nextCall];
      this.#nextCall += 1;
      if (this.#nextCall === calls.length) {
        // The next message reuses the memory of a short array.
        if (calls.length === 1) calls.pop();
        else this.#calls = [];
        this.#nextCall = 0;
      }
      call?.start();
    }
  }

  /** Receives a message whose turn it is. */
  #receive(message: Message): void {
    const { data, isBinary } = message;
    const text = !isBinary && data.byteLength === 4 ? data.toString() : '';
    if (text === 'PING') this.send('PONG');
    if (text === 'PING' || text === 'PONG') return;
    if (this.#awaitsParameters) {
      this.#awaitsParameters = false;
      this.#readParameters(message);
    } else if (this.#isReady) this.#read(message);
    else this.#hold(message);
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
    this.#messages = [];
    this.#calls = [];
    this.#endWatch();
    clearTimeout(this.#keepAliveTimer);
    clearTimeout(this.#drainTimer);
    const reason = new DOMException('The client disconnected.', 'AbortError');
    this.settings.starts.delete(this);
    for (const call of [...this.running, ...this.subscriptions.values()]) call.abort(reason);
    for (const call of this.subscriptions.values()) call.endStart();
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

  /** Resolves when the calls that have arrived have ended, also those that wait. */
  async #callsEnded(): Promise<void> {
    while (this.isOpen && this.#hasWork) {
      // oxlint-disable-next-line no-await-in-loop -- only once
      await this.#begun;
      // oxlint-disable-next-line no-await-in-loop -- some of them start in each turn
      await new Promise<void>((resolve) => nextTurn(resolve));
    }
    await this.idle();
  }

  #readParameters(message: Message): void {
    clearTimeout(this.#credentialTimer);
    if (message.data.byteLength > maxUnauthenticatedBytes) {
      this.limited('message-bytes');
      this.close(1009, `The connection parameters are larger than ${maxUnauthenticatedBytes} bytes.`);
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

  /**
   * Authenticates the client if the request that opened the socket did not, creates the context, and serves the
   * messages that wait. It never rejects.
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
    this.#isReady = true;
    // Before the calls, since a message may stop a subscription that another one starts.
    this.#receiveWaiting();
    if (this.contextError) this.#end(this.contextError);
    this.#startCalls();
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
  #read(message: Message): void {
    const { parts, decoded } = this.#parse(message) ?? {};
    const charged = parts?.find((part) => part.id !== null && part.method !== 'subscription.stop');
    const exceeded = this.#charge(charged);
    let isAllCalls = parts !== undefined;
    const { maxBodySize } = this.settings.limits;
    const tooLarge = message.data.byteLength > maxBodySize ? messageTooLarge(maxBodySize) : undefined;
    if (!parts) this.record(tooLarge ?? new TRPCError({ code: 'BAD_REQUEST' }));
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
        this.subscriptions.get(id)?.abort();
      } else {
        const isSubscription = method === 'subscription';
        const open = isSubscription ? this.subscriptions.size : this.#calls.length - this.#nextCall;
        const charge = part === charged ? exceeded : this.#charge(part);
        const bytes = isSubscription ? bytesOfPart(message, decoded, index) : 0;
        const full = this.#fullError(open, bytes);
        // The id was checked above. Of the errors, not the charge first: with a shared state it is a promise.
        const call = new SocketCall(this, part as CallMessage, index, batch);
        call.rejection = tooLarge ?? full ?? charge;
        isAllCalls &&= call.procedure !== undefined;
        if (isSubscription && this.subscriptions.has(id)) {
          this.#rejectPart(call, new TRPCError({ code: 'BAD_REQUEST', message: `Duplicate id ${id}` }));
          continue;
        }
        // Registered before it starts, so that a later message, even of the same batch, can stop it.
        if (isSubscription && !full) {
          this.subscriptions.set(id, call);
          this.subscriptionBytes += bytes;
          call.inputBytes = bytes;
        }
        this.#calls.push(call);
      }
    }
    // A rejected call gets an error. For anything else, close the socket: otherwise it would exceed the limit at no
    // cost.
    if (exceeded && !isAllCalls) {
      const close = (error: TRPCError | undefined) => error && this.close(1013, 'Try again later.');
      this.#calls.push({ start: () => void mapMaybePromise(exceeded, close) });
    }
  }

  /**
   * Returns the error of a call for which the socket has no room.
   * @param open the number of open calls of its kind
   * @param bytes the size of the input of a subscription, which is kept; 0 for other calls
   */
  #fullError(open: number, bytes: number): LimitError | undefined {
    if (open >= maxCallsPerSocket) return tooManyCalls;
    if (bytes === 0) return undefined;
    const { limits } = this.settings;
    const most = Math.min(limits.maxBodySize, maxMessageSizeOf(limits));
    if (this.subscriptionBytes + bytes <= most) return undefined;
    // One object, since a message may have 20,000 subscriptions.
    return (this.#bytesError ??= tooManySubscriptionBytes(most));
  }

  /** Parses a message. For a malformed one, sends an error and returns `undefined`. */
  #parse(message: Message): ParsedMessage | undefined {
    const { transformer } = this.settings.config;
    try {
      const decoded = decode(message);
      return Array.isArray(decoded)
        ? { parts: decoded.map((part) => parseTRPCMessage(part, transformer)), decoded }
        : { parts: [parseTRPCMessage(decoded, transformer)], decoded: undefined };
    } catch (cause) {
      // As in tRPC's handler, `onError` is not called.
      this.sendShape(
        noCall,
        this.shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause: readableCause(cause) })),
      );
    }
    this.#malformedMessages += 1;
    if (this.#malformedMessages > maxMalformedMessages) {
      this.limited('messages');
      this.close(1008, `More than ${maxMalformedMessages} messages could not be parsed.`);
    }
    return undefined;
  }

  /** Charges a call, or a message without a call, to the rate limit. */
  #charge(part?: TRPCClientOutgoingMessage): MaybePromise<TRPCError | undefined> {
    const { procedures, rateLimit } = this.settings;
    if (rateLimit === undefined) return undefined;
    const path = part && 'params' in part ? part.params.path : '';
    return rateLimit.count(this.context, procedures.get(path)?.rateLimitCost ?? 1);
  }

  /** Rejects a part of a message, of which there may be thousands: later, if the budget of the turn is spent. */
  #rejectPart(call: CallInfo, error: TRPCError): void {
    if (turn.spend()) this.#calls.push({ start: () => this.#reject(call, error) });
    else this.#reject(call, error);
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
    this.unsentLimit = maxSocketUnsentBytes;
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

/** A message as it was received. */
interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

interface ParsedMessage {
  readonly parts: readonly TRPCClientOutgoingMessage[];
  /** The parts of an array, before the transformer. */
  readonly decoded: readonly unknown[] | undefined;
}

/** Returns the size of a part, whose input a subscription keeps: its own, since those of an array differ. */
const bytesOfPart = ({ data }: Message, decoded: readonly unknown[] | undefined, index: number): number =>
  decoded === undefined ? data.byteLength : JSON.stringify(decoded[index]).length;

const messageTooLarge = (maxBodySize: number) =>
  new LimitError('message-bytes', {
    code: 'PAYLOAD_TOO_LARGE',
    message: `The message is larger than ${maxBodySize} bytes (maxBodySize). Its calls did not run: send fewer or smaller ones at once, or send them over HTTP.`,
  });

/** Parses JSON. A binary message is an error, with tRPC's message. */
function decode({ data, isBinary }: Message): unknown {
  if (!isBinary) return JSON.parse(data.toString());
  const text = 'JSON uses text frames. Use a binary encoder for binary data.';
  throw new Error(`jsonEncoder received binary data. ${text}`);
}
