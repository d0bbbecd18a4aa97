// Hot path: every frame on a WebSocket is encoded here.
import type { TRPCError } from '@trpc/server';
import { utf8Length } from '../../http/response.ts';
import type { SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import type { CallContext, RequestContext } from '../../calls/requestContext.ts';
import { batchTooLarge, boundedJson } from '../../calls/responseBytes.ts';
import { failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { codeOf, errorStatusOf, originalOf } from '../../procedures/clientError.ts';
import { OpenSubscriptions, type CallInfo, type OpenCall } from './openCalls.ts';
import { maxMessageSizeOf, type SocketSettings } from './options.ts';
import {
  maxCallsPerSocket,
  maxSocketUnsentBytes,
  pauseAboveBytes,
  stoppingError,
  tooManyCalls,
} from './socketLimits.ts';
import { encodeError, genericErrorShape } from './trpcErrors.ts';

/** One WebSocket: its running calls, and the frames that it sends, in the format of tRPC's handler (@trpc/server 11.25). */
export class Socket {
  isOpen = true;
  isDraining = false;
  ctx: unknown = undefined;
  /** The error of `createContext`, which is the error of every call. */
  contextError: TRPCError | undefined = undefined;
  /** Open calls. A `Set` would keep them until a full collection (`Deadlines`): 38% of an async query. */
  readonly running: OpenCall[] = [];
  readonly subscriptions: OpenSubscriptions;
  readonly context: RequestContext;
  readonly settings: SocketSettings;
  readonly peer: WebSocketPeer;
  /** Maximum number of unsent bytes now. */
  unsentLimit = maxSocketUnsentBytes;
  #resumeCallbacks: (() => void)[] = [];

  constructor(peer: WebSocketPeer, settings: SocketSettings, context: RequestContext) {
    this.context = context;
    this.settings = settings;
    this.peer = peer;
    const { limits } = settings;
    this.subscriptions = new OpenSubscriptions(Math.min(limits.maxBodySize, maxMessageSizeOf(limits)));
  }

  /**
   * Encodes an output or a tracked event; `''` if the socket is closed.
   * @throws {LimitError} `response-bytes`; also the error of a transformer
   */
  encodeData({ batch, id, jsonrpc }: CallInfo, output: unknown, eventId?: string): string {
    if (!this.isOpen) return '';
    const { config, limits } = this.settings;
    const left = limits.maxResponseSize - (batch?.bytes ?? 0);
    // Once the limit is exceeded, later outputs are not encoded.
    if (left <= 0) throw batchTooLarge(limits.maxResponseSize);
    const data: unknown = config.transformer.output.serialize(output);
    const result = eventId === undefined ? { type: 'data', data } : { type: 'data', data, id: eventId };
    try {
      // Encoded with its envelope, since `toJSON` receives the name of its member.
      const frame = boundedJson({ id, jsonrpc, result }, left) as string;
      if (batch) batch.bytes += utf8Length(frame);
      return frame;
    } catch (cause) {
      throw batch && cause instanceof LimitError ? batchTooLarge(limits.maxResponseSize) : cause;
    }
  }

  /** Sends that a subscription has started or ended. */
  sendState({ id, jsonrpc }: CallInfo, type: 'started' | 'stopped'): void {
    this.send(JSON.stringify({ id, jsonrpc, result: { type } }));
  }

  reconnect(): void {
    this.send('{"id":null,"method":"reconnect"}');
  }

  /** Reports an error and sends it to the client. It never throws: if encoding fails, the client receives a generic error. */
  reportAndSendError(call: CallInfo, cause: unknown): void {
    this.sendShape(call, this.shapeOf(call, this.reportError(call, cause)));
  }

  /** Reports an error and sends it to the client. Throws if it cannot be encoded. */
  sendError(call: CallInfo, cause: unknown): void {
    this.#sendShape(call, this.shapeOf(call, this.reportError(call, cause)));
  }

  reportError({ path, type, input }: CallInfo, cause: unknown): TRPCError {
    const { error } = failureOf(cause);
    const ctx = this.ctx as never;
    const req = this.context.request;
    this.settings.trpc.onError?.({ error: originalOf(error), path, type, ctx, req, input });
    return error;
  }

  /** Formats an error with the router's `errorFormatter`. It never throws. */
  shapeOf(call: CallInfo, error: TRPCError): object {
    const { path, type, input } = call;
    const ctx = this.ctx as never;
    try {
      return this.settings.errors.shapeOf({ ctx, error, type, path, input });
    } catch (cause) {
      this.reportError(call, cause);
      return genericErrorShape;
    }
  }

  /** Sends the shape of an error; if it cannot be encoded, a generic one, without a transformer that throws. Never throws. */
  sendShape(call: CallInfo, shape: object): void {
    try {
      this.#sendShape(call, shape);
    } catch (cause) {
      this.reportError(call, cause);
      if (shape !== genericErrorShape) return this.sendShape(call, genericErrorShape);
      const { id, jsonrpc } = call;
      this.send(JSON.stringify({ id, jsonrpc, error: genericErrorShape }));
    }
  }

  #sendShape({ batch, id, jsonrpc }: CallInfo, shape: object): void {
    if (!this.isOpen) return;
    const { config, limits } = this.settings;
    const toMessage = (each: object) => {
      const error: unknown = config.transformer.output.serialize(each);
      return { id, jsonrpc, error };
    };
    const { text } = encodeError(shape, toMessage, limits.maxResponseSize, batch?.bytes);
    if (batch) batch.bytes += utf8Length(text);
    this.send(text);
  }

  callStarted(call: OpenCall): void {
    call.runningIndex = this.running.push(call) - 1;
  }

  /** @param policyError the error of a policy that could not report the outcome of a subscription */
  callEnded(call: OpenCall, error: TRPCError | undefined, policyError?: unknown): void {
    const last = this.running.at(-1);
    if (call.runningIndex !== undefined && last) {
      this.running[call.runningIndex] = last;
      last.runningIndex = call.runningIndex;
      this.running.pop();
    }
    this.record(error, call, policyError);
  }

  /** Emits the record of a call that has ended, or of a malformed message, to `onResponse`. */
  record(error: TRPCError | undefined, call?: OpenCall, policyError?: unknown): void {
    const isStream = call?.type === 'subscription';
    // 499 if the client disconnected, as over HTTP. For a subscription, that is a regular end.
    const success = this.isOpen || isStream ? 200 : 499;
    const status = error ? errorStatusOf(error) : success;
    const limit = error instanceof LimitError ? error.limit : undefined;
    const isUnexpected = error && status >= 500 && limit === undefined;
    // Not the path that the client sent: it must not become a label of metrics.
    const operation = call?.procedure?.path;
    this.settings.recorder.call(this.context, {
      operation,
      procedures: operation === undefined ? [] : [operation],
      callErrors:
        error && call && status !== 499 ? [{ procedure: operation, code: codeOf(error) }] : undefined,
      startedAt: call?.startedAt,
      limit,
      error: isUnexpected ? originalOf(error) : policyError,
      status,
      isStream,
      trace: call?.callTelemetry?.trace,
    });
  }

  /** Emits a record of a limit that the client exceeded. */
  limited(limit: SocketLimit): void {
    const code = limit === 'message-bytes' ? 'PAYLOAD_TOO_LARGE' : 'TOO_MANY_REQUESTS';
    this.record(new LimitError(limit, { code, message: 'The socket is closed.' }));
  }

  send(frame: string): void {
    if (!this.isOpen) return;
    if (this.peer.bufferedBytes > this.unsentLimit) this.#closeUnread();
    this.peer.send(frame);
  }

  pinged(): void {
    if (this.peer.bufferedBytes > this.unsentLimit) this.#closeUnread();
  }

  /** Closes the socket of a client that does not read, before unsent data fills the memory. */
  #closeUnread(): void {
    this.limited('unsent-bytes');
    this.close(1013, 'The send buffer is full: the client is not reading.');
  }

  /** Backpressure: returns a promise that subscriptions await before their next event, if the client reads too slowly. */
  ready(): Promise<void> | undefined {
    if (!this.isOpen || this.peer.bufferedBytes <= pauseAboveBytes) return undefined;
    return new Promise((resolve) => this.#resumeCallbacks.push(resolve));
  }

  drained(): void {
    if (this.peer.bufferedBytes > pauseAboveBytes) return;
    for (const resume of this.#resumeCallbacks.splice(0)) resume();
  }

  /** Returns an error if a call may not start. */
  rejection({ type }: CallInfo): TRPCError | undefined {
    // A subscription starts: its client resumes it after it has reconnected, as every other one.
    if (this.isDraining && type !== 'subscription') return stoppingError;
    return this.running.length < maxCallsPerSocket ? undefined : tooManyCalls;
  }

  /** Resolves when the queries and mutations in flight have ended. */
  async idle(): Promise<void> {
    const calls = this.running.filter(({ type }) => type !== 'subscription');
    await Promise.all(calls.map((call) => call.whenEnded()));
  }

  /** Closes the socket. Codes: RFC 6455 §7.4.1, and 1013 of IANA's registry. */
  close(code?: number, reason?: string): void {
    this.isOpen = false;
    this.peer.close(code, reason);
  }
}

/** Whether an error is the result of an aborted signal. */
export const isAbort = ({ cause, code }: TRPCError): boolean =>
  code === 'INTERNAL_SERVER_ERROR' && cause?.name === 'AbortError';

/** Whether the error of a call is the consequence of its stop, or of a disconnect. */
export const isStopped = (error: TRPCError, call: Pick<CallContext, 'signal'>): boolean =>
  isAbort(originalOf(error)) && call.signal.aborted;
