// Hot path: every message on a WebSocket is read here, and every frame is encoded here.
import { TRPCError } from '@trpc/server';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { isObject } from '../../http/isObject.ts';
import { utf8Length } from '../../http/utf8.ts';
import type { SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import type { TraceIds } from '../../calls/requestRecord.ts';
import type { CallContext, RequestContext } from '../../calls/requestContext.ts';
import {
  batchTooLarge,
  boundedJson,
  errorTooLarge,
  maxErrorBytes,
  responseTooLarge,
} from '../../calls/responseBytes.ts';
import { failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { errorStatusOf } from '../../procedures/formattedError.ts';
import type { SocketSettings } from './options.ts';
import { defaultShape, genericErrorShape } from './trpcErrors.ts';

/** The properties of a call that an error message has; `noCall` for an error outside of a call. */
export interface CallInfo {
  readonly id: string | number | null;
  readonly jsonrpc?: '2.0' | undefined;
  readonly path?: string;
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly input?: unknown;
  /** The size of the results so far of the message that the call came with, if that is a batch. */
  readonly batch?: { bytes: number } | undefined;
}

export const noCall: CallInfo = { id: null, type: 'unknown' };

/** The error of a query or mutation that arrives while the server stops and waits for other calls of its socket. */
const stoppingError = new TRPCError({
  code: 'SERVICE_UNAVAILABLE',
  message: 'The server is stopping. The call did not run: repeat it on another connection.',
});

export interface OpenCall extends CallInfo, CallContext {
  readonly procedure: Procedure | undefined;
  /** The start, by `performance.now()`. */
  readonly startedAt: number;
  /** The index in `Socket.running`; `undefined` if it is not in there. */
  runningIndex: number | undefined;
  readonly trace: TraceIds | undefined;
  whenEnded(): Promise<void>;
}

/** An output or an event (with an `id` if tracked), or the start or end of a subscription. */
type ResultMessage =
  | { readonly type: 'data'; data: unknown; readonly id?: string }
  | { readonly type: 'started' | 'stopped' };

interface OutgoingMessage extends Pick<CallInfo, 'id' | 'jsonrpc'> {
  readonly method?: 'reconnect';
  readonly result?: ResultMessage;
  error?: unknown;
}

/** Number of unsent bytes above which subscriptions pause. */
const pauseAboveBytes = 65_536;

/** Reads and writes the messages of one WebSocket, in the format of tRPC's handler (@trpc/server 11.25). */
export class Socket {
  isOpen = true;
  /** Whether the server is stopping. */
  protected isDraining = false;
  /** The result of `createContext`. */
  ctx: unknown = undefined;
  /** The error of `createContext`, which is the error of every call. */
  contextError: TRPCError | undefined = undefined;
  /**
   * The calls that have started and not ended. Not a `Set`, which keeps every call alive until a full garbage
   * collection (see `Deadlines`): 38% of a query with an async resolver.
   */
  readonly running: OpenCall[] = [];
  /** Subscriptions by id, from the message that starts them until their iterators are closed. */
  readonly subscriptions = new Map<string | number, OpenCall>();
  readonly context: RequestContext;
  readonly settings: SocketSettings;
  protected readonly peer: WebSocketPeer;
  /** Maximum number of unsent bytes. */
  protected maxUnsentBytes: number;
  /** Callbacks that resume paused subscriptions. */
  #resumeCallbacks: (() => void)[] = [];

  constructor(peer: WebSocketPeer, settings: SocketSettings, context: RequestContext) {
    this.context = context;
    this.settings = settings;
    this.peer = peer;
    this.maxUnsentBytes = settings.sockets.maxBufferedBytes;
  }

  get inFlight(): number {
    return this.running.length;
  }

  /** Parses a message. For a malformed one, sends an error and returns `undefined`. */
  protected read(message: string | Buffer): readonly TRPCClientOutgoingMessage[] | undefined {
    const { transformer } = this.settings.config;
    try {
      const decoded = this.decode(message);
      if (!Array.isArray(decoded)) return [parseTRPCMessage(decoded, transformer)];
      if (decoded.length <= this.settings.trpc.maxBatchSize)
        return decoded.map((part) => parseTRPCMessage(part, transformer));
      this.#rejectBatch(decoded);
    } catch (cause) {
      // As in tRPC's handler, `onError` is not called.
      this.#sendShape(noCall, this.#shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause })));
    }
    return undefined;
  }

  protected decode(message: string | Buffer): unknown {
    const { experimental_encoder: encoder } = this.settings.sockets;
    if (encoder) return encoder.decode(message);
    if (typeof message === 'string') return JSON.parse(message);
    // tRPC's message.
    const text = 'JSON uses text frames. Use a binary encoder for binary data.';
    throw new Error(`jsonEncoder received binary data. ${text}`);
  }

  /**
   * Sends a result.
   * @throws {LimitError} `response-bytes`; also the error of a transformer or an encoder
   */
  sendResult({ batch, id, jsonrpc }: CallInfo, result: ResultMessage): void {
    try {
      this.#send({ id, jsonrpc, result }, batch);
    } catch (cause) {
      throw batch && cause instanceof LimitError
        ? batchTooLarge(this.settings.limits.maxResponseBytes)
        : cause;
    }
  }

  /** Sends the client a request to reconnect. */
  reconnect(): void {
    try {
      this.#send({ id: null, method: 'reconnect' });
    } catch (cause) {
      this.reportError(noCall, cause);
    }
  }

  /**
   * Reports an error and sends it to the client. It never throws: if encoding fails, the client receives a generic
   * error.
   */
  reportAndSendError(call: CallInfo, cause: unknown): void {
    this.#sendShape(call, this.#shapeOf(call, this.reportError(call, cause)));
  }

  /** Reports an error and sends it to the client. Throws if it cannot be encoded. */
  sendError(call: CallInfo, cause: unknown): void {
    this.#sendError(call, this.#shapeOf(call, this.reportError(call, cause)));
  }

  /** Calls `onError`. */
  reportError({ path, type, input }: CallInfo, cause: unknown): TRPCError {
    const { error } = failureOf(cause);
    const ctx = this.ctx as never;
    this.settings.trpc.onError?.({ error, path, type, ctx, req: this.context.request, input });
    return error;
  }

  callStarted(call: OpenCall): void {
    call.runningIndex = this.running.push(call) - 1;
  }

  callEnded(call: OpenCall, error: TRPCError | undefined): void {
    const last = this.running.at(-1);
    if (call.runningIndex !== undefined && last) {
      this.running[call.runningIndex] = last;
      last.runningIndex = call.runningIndex;
      this.running.pop();
    }
    this.record(error, call);
  }

  /** Emits the record of a call that has ended, or of a malformed message, to `onResponse`. */
  record(error: TRPCError | undefined, call?: OpenCall): void {
    const isStream = call?.type === 'subscription';
    // 499 if the client disconnected, as over HTTP. For a subscription, that is a regular end.
    const success = this.isOpen || isStream ? 200 : 499;
    const status = error ? errorStatusOf(error) : success;
    const limit = error instanceof LimitError ? error.limit : undefined;
    const isUnexpected = status >= 500 && limit === undefined && error !== stoppingError;
    const recorded = {
      // Not the path that the client sent: it must not become a label of metrics.
      operation: call?.procedure?.path,
      startedAt: call?.startedAt,
      limit,
      error: isUnexpected ? error : undefined,
    };
    this.settings.recorder.call(this.context, recorded, status, isStream, call?.trace);
  }

  /** Emits a record of a limit that the client exceeded. */
  limited(limit: SocketLimit): void {
    const code = limit === 'message-bytes' ? 'PAYLOAD_TOO_LARGE' : 'TOO_MANY_REQUESTS';
    this.record(new LimitError(limit, { code, message: 'The socket is closed.' }));
  }

  send(frame: string | Uint8Array): void {
    this.#checkUnsent();
    this.peer.send(frame);
  }

  pinged(): void {
    this.#checkUnsent();
  }

  /**
   * Backpressure: returns a promise that subscriptions await before their next event, if the client reads too slowly.
   */
  ready(): Promise<void> | undefined {
    if (!this.isOpen || this.peer.bufferedBytes <= pauseAboveBytes) return undefined;
    return new Promise((resolve) => this.#resumeCallbacks.push(resolve));
  }

  drained(): void {
    if (this.peer.bufferedBytes > pauseAboveBytes) return;
    for (const resume of this.#resumeCallbacks.splice(0)) resume();
  }

  /** Returns an error if a call may not start. Closes the socket if too many are running. */
  rejection({ type }: CallInfo): TRPCError | undefined {
    // A subscription starts: its client resumes it after it has reconnected, as every other one.
    if (this.isDraining && type !== 'subscription') return stoppingError;
    const { maxCallsPerSocket } = this.settings.sockets;
    if (this.running.length < maxCallsPerSocket) return undefined;
    this.close(1008, `More than ${maxCallsPerSocket} calls are running on this socket.`);
    return new TRPCError({ code: 'TOO_MANY_REQUESTS' });
  }

  /** Resolves when the queries and mutations in flight have ended. */
  async idle(): Promise<void> {
    const calls = this.running.filter(({ type }) => type !== 'subscription');
    await Promise.all(calls.map((call) => call.whenEnded()));
  }

  /**
   * Closes the socket.
   * @param code see RFC 6455 §7.4.1; 1013 is in IANA's registry
   */
  close(code?: number, reason?: string): void {
    this.isOpen = false;
    this.peer.close(code, reason);
  }

  /** Closes the socket of a client that does not read, before unsent data fills the memory. */
  #checkUnsent(): void {
    if (this.peer.bufferedBytes <= this.maxUnsentBytes) return;
    this.limited('unsent-bytes');
    this.close(1013, 'The send buffer is full: the client is not reading.');
  }

  /** Sends an error for each call of a batch that is too large. */
  #rejectBatch(parts: readonly unknown[]): void {
    const error = new TRPCError({ code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    const shape = this.#shapeOf(noCall, this.reportError(noCall, error));
    const calls: CallInfo[] = [];
    for (const part of parts) {
      if (!isObject(part) || part.method === 'subscription.stop') continue;
      const { id, jsonrpc } = part;
      if (typeof id !== 'number' && typeof id !== 'string') continue;
      calls.push({ ...noCall, id, jsonrpc: jsonrpc === '2.0' ? jsonrpc : undefined });
    }
    for (const call of calls.length > 0 ? calls : [noCall]) this.#sendShape(call, shape);
  }

  #shapeOf(call: CallInfo, error: TRPCError): object {
    const { path, type, input } = call;
    const ctx = this.ctx as never;
    try {
      return this.settings.errors.shapeOf({ ctx, error, type, path, input });
    } catch (cause) {
      this.reportError(call, cause);
      return genericErrorShape;
    }
  }

  #sendShape(call: CallInfo, shape: object): void {
    try {
      this.#sendError(call, shape);
    } catch (cause) {
      this.reportError(call, cause);
      if (shape !== genericErrorShape) this.#sendShape(call, genericErrorShape);
    }
  }

  /** Sends an error. One that is too large is replaced, as over HTTP. */
  #sendError({ batch, id, jsonrpc }: CallInfo, error: object): void {
    try {
      this.#send({ id, jsonrpc, error }, batch);
    } catch (cause) {
      if (!(cause instanceof LimitError)) throw cause;
      this.#send({ id, jsonrpc, error: defaultShape(errorTooLarge(this.settings.limits.maxResponseBytes)) });
    }
  }

  /** @param batch the results of a batch count together, except for events, of which there may be any number */
  #send(message: OutgoingMessage, batch?: CallInfo['batch']): void {
    if (!this.isOpen) return;
    const { limits, sockets } = this.settings;
    const { output } = this.settings.config.transformer;
    const { result } = message;
    const left = limits.maxResponseBytes - (batch?.bytes ?? 0);
    let maxBytes = Infinity;
    if ('error' in message) {
      message.error = output.serialize(message.error);
      maxBytes = maxErrorBytes(left);
    } else if (result?.type === 'data') {
      // Once the limit is exceeded, later outputs are not encoded.
      if (left <= 0) throw responseTooLarge(left);
      result.data = output.serialize(result.data);
      maxBytes = left;
    }
    const encoder = sockets.experimental_encoder;
    // Encoded with its envelope, since `toJSON` receives the name of its member.
    const frame = encoder ? encoder.encode(message) : (boundedJson(message, maxBytes) as string);
    if (encoder && encodedBytes(frame) > maxBytes) throw responseTooLarge(maxBytes);
    if (batch) batch.bytes += encodedBytes(frame);
    this.send(frame);
  }
}

const encodedBytes = (frame: string | Uint8Array): number =>
  typeof frame === 'string' ? utf8Length(frame) : frame.byteLength;
