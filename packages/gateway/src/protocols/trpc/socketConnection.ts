import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError, type TRPCRequestInfo } from '@trpc/server/http';
import { isThenable, type MaybePromise } from '../../http/after.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { SocketHandler, SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import type { Calls } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { Exchange } from '../../policies/exchange.ts';
import type { FailedAttempts } from '../../policies/failedAttempts.ts';
import type { Target } from '../../policies/policy.ts';
import type { RateLimit } from '../../policies/rateLimit.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import { Failure, failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { Reply } from '../../procedures/reply.ts';
import { authorizationOf, sendsParameters } from './connectionAuthorization.ts';
import type { SocketOptions } from './options.ts';
import { SocketCall, type CallOwner } from './socketCall.ts';
import {
  noCall,
  SocketMessages,
  type FrameReceiver,
  type MessageOptions,
  type RawMessage,
} from './socketMessages.ts';

/** The options of a gateway that its WebSockets depend on. */
export interface SocketConnectionOptions<Identity> extends MessageOptions {
  readonly definitions: ReadonlyMap<string, Procedure>;
  readonly calls: Calls;
  /** Decides on a request, or on the credential of a socket, by the policies. */
  readonly admit: (scope: RequestScope<Identity>, target: Target) => MaybePromise<TRPCError | undefined>;
  readonly rateLimit: RateLimit<Identity> | undefined;
  readonly failedAttempts: FailedAttempts | undefined;
  readonly watch: CredentialWatch;
  readonly createContext: (options: ContextOptions<Identity>) => unknown;
  /** Reports each call, and each malformed message. It does not throw. */
  readonly emit: (record: Exchange) => void;
}

/** How a socket was opened, and what is to be called in the course of its life. */
interface Opening<Identity> {
  /** The request that opened the socket. */
  readonly scope: RequestScope<Identity>;
  /** Whether the policies have admitted it; else the credential comes with the first message. */
  readonly isAdmitted: boolean;
  /** Called once where the credential was awaited: it has been checked, or the socket is closed. */
  readonly onChecked: () => void;
  readonly onClosed: () => void;
}

/** What a request for a WebSocket names: nothing yet. It counts as a call. */
export const socketTarget: Target = { calls: 1, isPublic: false };

type ConnectionParams = TRPCRequestInfo['connectionParams'];

/** Close codes (RFC 6455 §7.4.1; 1013 is in IANA's registry). */
const goingAway = 1001;
const policyViolation = 1008;
const internalError = 1011;
const tryAgainLater = 1013;

function closeOf({ code }: TRPCError): [code: number, reason: string] {
  if (code === 'SERVICE_UNAVAILABLE' || code === 'TOO_MANY_REQUESTS')
    return [tryAgainLater, 'Try again later.'];
  return code === 'UNAUTHORIZED' || code === 'FORBIDDEN'
    ? [policyViolation, 'The credential is missing or not valid.']
    : [internalError, 'The credential could not be checked.'];
}

/** Unsent bytes from which on subscriptions wait before they produce their next event. */
const pacedFromBytes = 65_536;

/** How long a client may keep the connection open after it has closed its socket, in milliseconds. */
const connectionEndsWithinMs = 18_000;

const malformed = new TRPCError({ code: 'BAD_REQUEST', message: 'The message is malformed.' });

/** One WebSocket: its credential, its context, its limits and its end. */
export class SocketConnection<Identity> implements SocketHandler, FrameReceiver, CallOwner {
  readonly request: HttpRequest;
  readonly options: SocketConnectionOptions<Identity>;
  readonly messages: SocketMessages;
  readonly pending = new Set<SocketCall>();
  readonly streams = new Set<SocketCall>();
  readonly subscriptions = new Map<string | number, SocketCall>();
  contextError: TRPCError | undefined = undefined;
  readonly #opening: Opening<Identity>;
  readonly #socket: WebSocketPeer;
  readonly #keepAlive: KeepAlive | undefined;
  /** The signal of `createContext`: aborts when the socket is closed. */
  readonly #closing = new AbortController();
  #state: 'open' | 'closing' | 'closed' = 'open';
  #isDraining = false;
  #isAuthenticated: boolean;
  /** Whether the next message is the connection parameters. */
  #awaitsParameters: boolean;
  /** Messages that wait for the context, unparsed: each may be thousands of calls. `undefined` once it is there. */
  #held: RawMessage[] | undefined = [];
  #heldBytes = 0;
  #credentialTimer: NodeJS.Timeout | undefined;
  #onChecked: (() => void) | undefined;
  /** For how many calls their messages have paid the rate limit. */
  #paid = 0;
  /** Whether the last message exceeded the rate limit. */
  #isBeyondLimit = false;
  /** Resume the subscriptions that wait until the client reads. */
  #paused: (() => void)[] = [];
  #endWatch = () => {};
  #onIdle = () => {};

  constructor(socket: WebSocketPeer, options: SocketConnectionOptions<Identity>, opening: Opening<Identity>) {
    const { isAdmitted, onChecked, scope } = opening;
    const { credentialDeadlineMs, keepAlive } = options.sockets;
    this.request = scope.request;
    this.options = options;
    this.messages = new SocketMessages(options, scope.request, this);
    this.#socket = socket;
    this.#opening = opening;
    this.#isAuthenticated = isAdmitted;
    this.#awaitsParameters = sendsParameters(scope.request);
    if (keepAlive?.enabled) this.#keepAlive = new KeepAlive(this, socket, keepAlive);
    if (!isAdmitted) {
      this.#onChecked = onChecked;
      this.#credentialTimer = setTimeout(() => {
        options.failedAttempts?.countSilent(scope.request);
        this.#close(policyViolation, 'No credential came in time.');
      }, credentialDeadlineMs).unref();
    }
    if (!this.#awaitsParameters) void this.#begin();
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get inFlight(): number {
    return this.pending.size + this.streams.size;
  }

  message(data: Buffer, isBinary: boolean): void {
    // A client that is about to be told to reconnect repeats its calls on the next socket.
    if (this.#isDraining || !this.isOpen) return;
    this.#keepAlive?.heard();
    if (!isBinary && data.byteLength === 4) {
      const text = data.toString();
      if (text === 'PING' && !this.options.sockets.dangerouslyDisablePong) this.send('PONG');
      if (text === 'PING' || text === 'PONG') return;
    }
    if (this.#awaitsParameters) {
      this.#awaitsParameters = false;
      clearTimeout(this.#credentialTimer);
      this.#charge();
      void this.#begin({ data, isBinary });
    } else if (this.#held) {
      this.#hold({ data, isBinary });
    } else {
      // The calls of the last message have started: what it paid for and did not start is forfeited.
      this.#paid = 0;
      for (const call of this.#read({ data, isBinary })) call.start();
    }
  }

  send(frame: string | Uint8Array): void {
    if (this.#isRead()) this.#socket.send(frame);
  }

  pinged(): void {
    this.#isRead();
  }

  limited(limit: SocketLimit): void {
    this.#report(undefined, limit === 'message-bytes' ? 413 : 429, limit);
  }

  drained(): void {
    if (this.#socket.bufferedBytes > pacedFromBytes) return;
    for (const resume of this.#paused.splice(0)) resume();
  }

  async closed(isInOrder = false): Promise<void> {
    // A client that closes its socket before it is authenticated may keep the connection open: it keeps its place among
    // those that wait so long. An adapter bounds the connections of the sockets that it closes itself.
    if (isInOrder && this.isOpen && this.#onChecked) {
      setTimeout(this.#onChecked, connectionEndsWithinMs).unref();
      this.#onChecked = undefined;
    }
    this.#checked();
    this.#state = 'closed';
    this.#held = [];
    this.#endWatch();
    this.#keepAlive?.end();
    const reason = new DOMException('The client went away.', 'AbortError');
    for (const call of this.pending) call.abort(reason);
    for (const call of this.subscriptions.values()) call.abort(reason);
    this.#closing.abort();
    this.#opening.onClosed();
    if (this.pending.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  drain(): void {
    this.#isDraining = true;
    this.#closeIfDrained();
  }

  rejection(): TRPCError | undefined {
    const { maxCallsPerSocket } = this.options.sockets;
    if (this.inFlight >= maxCallsPerSocket) {
      this.#close(policyViolation, `A socket may run ${maxCallsPerSocket} calls at once.`);
      return new TRPCError({ code: 'TOO_MANY_REQUESTS' });
    }
    if (this.#paid === 0) return this.#charge();
    this.#paid -= 1;
    return undefined;
  }

  ready(): Promise<void> | undefined {
    if (!this.isOpen || this.#socket.bufferedBytes <= pacedFromBytes) return undefined;
    return new Promise((resolve) => this.#paused.push(resolve));
  }

  ended(call: SocketCall, error: TRPCError | undefined): void {
    // 499: the client has gone, as over HTTP. A subscription ends by that, and has sent what it had.
    const success = this.#state === 'closed' && !call.isSubscription ? 499 : 200;
    if (call.procedure === undefined && error) this.#reject(error);
    else this.#report(call, error ?? success);
    if (this.pending.size === 0) this.#onIdle();
    this.#closeIfDrained();
  }

  /** Authenticates the client where its request did not, makes the context, and serves what was held. It never rejects. */
  async #begin(parameters?: RawMessage): Promise<void> {
    const { isAdmitted, scope } = this.#opening;
    let connectionParams: ConnectionParams = null;
    try {
      if (parameters) connectionParams = this.messages.readConnectionParams(parameters);
    } catch (cause) {
      return this.#fail(failureOf(cause).error);
    }
    const authorization = authorizationOf(connectionParams);
    const rejection = isAdmitted
      ? undefined
      : await this.options.admit(scope, { ...socketTarget, authorization });
    this.#checked();
    if (rejection) return this.#fail(rejection, ...closeOf(rejection));
    this.#isAuthenticated = true;
    if (this.isOpen) {
      this.#endWatch = this.options.watch(scope.token, scope.request, () =>
        this.#close(policyViolation, 'The credential is not valid any more.'),
      );
    }
    const context = await this.#createContext(connectionParams);
    if (context instanceof Failure) this.contextError = context.error;
    else this.messages.context = context;
    // All are read before the first call starts: one of them may stop a subscription that another starts.
    const held = this.#held ?? [];
    this.#held = undefined;
    const calls = held.flatMap((message) => (this.isOpen ? this.#read(message) : []));
    if (this.contextError) this.#fail(this.contextError);
    for (const call of calls) call.start();
  }

  /** The context, or why there is none. */
  async #createContext(connectionParams: ConnectionParams): Promise<unknown> {
    const { identity, request, requestId } = this.#opening.scope;
    const { signal } = this.#closing;
    try {
      const context: unknown = this.options.createContext({
        request,
        identity,
        // No response takes its headers, and it lasts as long as the socket: they are not kept.
        reply: Object.assign(new Reply(), { append() {} }),
        requestId,
        idempotencyKey: undefined,
        info: {
          connectionParams,
          calls: [],
          isBatchCall: false,
          accept: null,
          type: 'unknown',
          signal,
          url: null,
        },
      });
      if (!isThenable(context)) return context;
      return await new Promise((resolve) =>
        this.options.calls.wait(context, new CallScope(request), resolve),
      );
    } catch (cause) {
      return failureOf(cause);
    }
  }

  /** Reports an error that no call causes, sends it, and closes the socket. */
  #fail(error: TRPCError, code?: number, reason?: string): void {
    this.#report(undefined, error);
    this.messages.fail(noCall, error);
    setImmediate(() => this.#close(code, reason));
  }

  #hold(message: RawMessage): void {
    const { maxUnauthenticatedBytes } = this.options.sockets;
    this.#heldBytes += message.data.byteLength;
    if (this.#heldBytes > maxUnauthenticatedBytes)
      this.#close(policyViolation, 'Too much was sent before the credential was checked.');
    else this.#held?.push(message);
  }

  /** The calls of a message, which costs what a call does, whatever is in it; its first call then costs nothing. */
  #read(message: RawMessage): readonly SocketCall[] {
    this.#isBeyondLimit = this.#charge() !== undefined;
    if (!this.#isBeyondLimit) this.#paid += 1;
    const parts = this.messages.read(message);
    let isMalformed = parts === undefined;
    const calls: SocketCall[] = [];
    let index = -1;
    // Not by `entries()`, which costs 3% of a query.
    for (const part of parts ?? []) {
      index += 1;
      const { id, method } = part;
      if (id === null) {
        isMalformed = true;
        const error = new TRPCError({ code: 'PARSE_ERROR', message: '`id` is required' });
        this.messages.fail({ ...noCall, jsonrpc: part.jsonrpc }, error);
      } else if (method === 'subscription.stop') {
        this.subscriptions.get(id)?.abort();
      } else {
        const procedure = this.options.definitions.get(part.params.path);
        const call = new SocketCall(this, id, part, procedure, index);
        const isDuplicate = call.isSubscription && this.subscriptions.has(id);
        if (isDuplicate) {
          isMalformed = true;
          this.messages.fail(call, new TRPCError({ code: 'BAD_REQUEST', message: `Duplicate id ${id}` }));
        } else {
          // From now on a message behind it, in the same batch even, can stop it.
          if (call.isSubscription) this.subscriptions.set(id, call);
          calls.push(call);
        }
      }
    }
    if (isMalformed) this.#reject(malformed);
    return calls;
  }

  /** Counts a call, or a message, to the rate limit. */
  #charge(): TRPCError | undefined {
    return this.#isAuthenticated ? this.options.rateLimit?.count(this.#opening.scope, 1) : undefined;
  }

  /** Whether the client reads what it is sent. Its socket is closed otherwise, or answers would fill the memory. */
  #isRead(): boolean {
    const { maxBufferedBytes, maxUnauthenticatedBytes } = this.options.sockets;
    const maxBytes = this.#isAuthenticated ? maxBufferedBytes : maxUnauthenticatedBytes;
    if (this.#socket.bufferedBytes <= maxBytes) return true;
    if (this.isOpen) this.limited('unsent-bytes');
    this.#close(tryAgainLater, 'What is sent is not read.');
    return false;
  }

  /** Reports a message that starts no call. Beyond the rate limit it closes the socket: a call would be rejected. */
  #reject(error: TRPCError): void {
    this.#report(undefined, error);
    if (this.#isBeyondLimit) this.#close(tryAgainLater, 'Try again later.');
  }

  #report(
    call: SocketCall | undefined,
    outcome: TRPCError | number,
    limit = outcome instanceof LimitError ? outcome.limit : undefined,
  ): void {
    const status = typeof outcome === 'number' ? outcome : getHTTPStatusCodeFromError(outcome);
    const isUnexpected = typeof outcome !== 'number' && status >= 500 && limit === undefined;
    this.options.emit({
      requestId: this.#opening.scope.requestId,
      method: 'WS',
      path: this.request.path,
      face: 'rpc',
      operation: call?.path,
      procedures: call === undefined ? [] : [call.path],
      calls: 1,
      status,
      isStream: call?.isSubscription ?? false,
      durationMs: call?.startedAt === undefined ? 0 : performance.now() - call.startedAt,
      bytesIn: undefined,
      bytesOut: undefined,
      limit,
      error: isUnexpected ? outcome : undefined,
    });
  }

  /** Gives up the place among the sockets whose credential is awaited. */
  #checked(): void {
    clearTimeout(this.#credentialTimer);
    this.#onChecked?.();
    this.#onChecked = undefined;
  }

  #closeIfDrained(): void {
    if (!this.#isDraining) return;
    // Later, since a client that is told to reconnect repeats the calls that are not answered yet.
    setImmediate(() => {
      if (this.pending.size > 0 || !this.isOpen) return;
      this.messages.sendReconnect();
      this.#close(goingAway, 'The server is stopping.');
    });
  }

  #close(code?: number, reason?: string): void {
    if (this.isOpen) this.#state = 'closing';
    this.#held &&= [];
    this.#socket.close(code, reason);
  }
}

/** Pings a client that is quiet, and ends the connection of one that stays so. */
class KeepAlive {
  readonly #ping: NodeJS.Timeout;
  #timeout: NodeJS.Timeout | undefined;

  constructor(
    receiver: FrameReceiver,
    socket: WebSocketPeer,
    { pingMs = 30_000, pongWaitMs = 5000 }: NonNullable<SocketOptions['keepAlive']>,
  ) {
    this.#ping = setTimeout(() => {
      receiver.send('PING');
      this.#timeout = setTimeout(() => socket.terminate(), pongWaitMs);
    }, pingMs);
  }

  heard(): void {
    clearTimeout(this.#timeout);
    this.#ping.refresh();
  }

  end(): void {
    clearTimeout(this.#ping);
    clearTimeout(this.#timeout);
  }
}
