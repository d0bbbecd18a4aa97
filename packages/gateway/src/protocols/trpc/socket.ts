// Hot path: every message on a WebSocket is read here, and every frame is encoded here.
import { getErrorShape, TRPCError } from '@trpc/server';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { isObject } from '../../http/isObject.ts';
import { performance } from '../../http/performance.ts';
import { utf8Length } from '../../http/utf8.ts';
import type { SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import type { TraceIds } from '../../policies/requestRecord.ts';
import type { CallScope } from '../../policies/callScope.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { responseTooLarge, boundedJson } from '../../policies/responseBytes.ts';
import { failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { shownStatus } from '../../procedures/shownError.ts';
import { hiddenShape } from './errorResponse.ts';
import type { SocketSettings } from './options.ts';

/** What an error names: a call, or none. */
export interface CallInfo {
  readonly id: string | number | null;
  readonly jsonrpc?: '2.0' | undefined;
  readonly path?: string;
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly input?: unknown;
}

export const noCall: CallInfo = { id: null, type: 'unknown' };

export interface OpenCall extends CallInfo, CallScope {
  readonly procedure: Procedure | undefined;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Its index in `Socket.running`; `undefined` while it is not there. */
  place: number | undefined;
  readonly trace: TraceIds | undefined;
  whenEnded(): Promise<void>;
}

/** An output, an event (`id`: of a tracked one), or that a subscription has started or stopped. */
type ResultMessage =
  | { readonly type: 'data'; data: unknown; readonly id?: string }
  | { readonly type: 'started' | 'stopped' };

interface OutgoingMessage extends Pick<CallInfo, 'id' | 'jsonrpc'> {
  readonly method?: 'reconnect';
  readonly result?: ResultMessage;
  error?: unknown;
}

/** Unsent bytes from which on subscriptions wait before they produce their next event. */
const pacedFromBytes = 65_536;

/**
 * What calls need of their WebSocket: its messages, frames and errors, as tRPC's handler has them (@trpc/server 11.25).
 */
export class Socket {
  isOpen = true;
  /** What `createContext` returned. */
  context: unknown = undefined;
  /** Why there is no context: the error of every call. */
  contextError: TRPCError | undefined = undefined;
  /**
   * The calls that have started and not ended. Not a `Set`: that keeps every call alive until a full collection, as
   * `Deadlines` explains, which is 38% of a query with an async resolver.
   */
  readonly running: OpenCall[] = [];
  /** Subscriptions by their ids, from when they are read until their iterators are closed. */
  readonly subscriptions = new Map<string | number, OpenCall>();
  readonly scope: RequestScope;
  readonly settings: SocketSettings;
  protected readonly peer: WebSocketPeer;
  /** How many bytes may be unsent. */
  protected maxUnsentBytes: number;
  /** Resume the subscriptions that wait until the client reads. */
  #paused: (() => void)[] = [];

  constructor(peer: WebSocketPeer, settings: SocketSettings, scope: RequestScope) {
    this.scope = scope;
    this.settings = settings;
    this.peer = peer;
    this.maxUnsentBytes = settings.sockets.maxBufferedBytes;
  }

  get inFlight(): number {
    return this.running.length;
  }

  /** The calls in a message; `undefined` for a malformed message, whose error is sent. */
  protected read(message: string | Buffer): readonly TRPCClientOutgoingMessage[] | undefined {
    const { transformer } = this.settings.config;
    try {
      const decoded = this.decode(message);
      if (!Array.isArray(decoded)) return [parseTRPCMessage(decoded, transformer)];
      if (decoded.length <= this.settings.rpc.maxBatchSize)
        return decoded.map((part) => parseTRPCMessage(part, transformer));
      this.#rejectBatch(decoded);
    } catch (cause) {
      // Not for `onError`, as in tRPC's handler.
      this.#sendShape(noCall, this.#shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause })));
    }
    return undefined;
  }

  protected decode(message: string | Buffer): unknown {
    const { experimental_encoder: encoder } = this.settings.sockets;
    if (encoder) return encoder.decode(message);
    if (typeof message === 'string') return JSON.parse(message);
    // tRPC's own words.
    const text = 'JSON uses text frames. Use a binary encoder for binary data.';
    throw new Error(`jsonEncoder received binary data. ${text}`);
  }

  /** @throws {LimitError} `response-bytes`; what a transformer or an encoder throws */
  sendResult({ id, jsonrpc }: CallInfo, result: ResultMessage): void {
    this.#send({ id, jsonrpc, result });
  }

  /** Tells the client to open another socket. */
  reconnect(): void {
    try {
      this.#send({ id: null, method: 'reconnect' });
    } catch (cause) {
      this.reportError(noCall, cause);
    }
  }

  /** Reports an error and sends it. It never throws: where it cannot be encoded, the client gets a bare error. */
  fail(call: CallInfo, cause: unknown): void {
    this.#sendShape(call, this.#shapeOf(call, this.reportError(call, cause)));
  }

  /** As `fail`. @throws what the error cannot be encoded for */
  sendError(call: CallInfo, cause: unknown): void {
    const error = this.#shapeOf(call, this.reportError(call, cause));
    this.#send({ id: call.id, jsonrpc: call.jsonrpc, error });
  }

  /** Calls `onError`, whose own failure, at once or later, is ignored. */
  reportError({ path, type, input }: CallInfo, cause: unknown): TRPCError {
    const { error } = failureOf(cause);
    const { onError } = this.settings.rpc;
    const ctx = this.context as never;
    (async () => onError?.({ error, path, type, ctx, req: this.scope.request, input }))().catch(() => {});
    return error;
  }

  started(call: OpenCall): void {
    call.place = this.running.push(call) - 1;
  }

  ended(call: OpenCall, error: TRPCError | undefined): void {
    const last = this.running.at(-1);
    if (call.place !== undefined && last) {
      this.running[call.place] = last;
      last.place = call.place;
      this.running.pop();
    }
    this.record(error, call);
  }

  /** Reports a call that has ended, or a message that is no call, to `onResponse`. */
  record(error: TRPCError | undefined, call?: OpenCall): void {
    const { request, requestId } = this.scope;
    const isStream = call?.type === 'subscription';
    // 499: the client has gone, as over HTTP. A subscription ends by that, and has sent what it had.
    const success = this.isOpen || isStream ? 200 : 499;
    const status = error ? shownStatus(error) : success;
    const limit = error instanceof LimitError ? error.limit : undefined;
    // Not what the client calls it: that is fit for no metric.
    const operation = call?.procedure?.path;
    this.settings.emit({
      requestId,
      method: 'WS',
      path: request.path,
      protocol: 'rpc',
      operation,
      procedures: operation === undefined ? [] : [operation],
      calls: 1,
      status,
      isStream,
      durationMs: call ? performance.now() - call.startedAt : 0,
      bytesIn: undefined,
      bytesOut: undefined,
      limit,
      error: status >= 500 && limit === undefined ? error : undefined,
      trace: call?.trace,
    });
  }

  /** Records that the client exceeded a limit. */
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

  /** What a subscription waits for before its next event: its client reads too slowly. */
  ready(): Promise<void> | undefined {
    if (!this.isOpen || this.peer.bufferedBytes <= pacedFromBytes) return undefined;
    return new Promise((resolve) => this.#paused.push(resolve));
  }

  drained(): void {
    if (this.peer.bufferedBytes > pacedFromBytes) return;
    for (const resume of this.#paused.splice(0)) resume();
  }

  /** Why no further call may start: then the socket is closed. */
  rejection(): TRPCError | undefined {
    const { maxCallsPerSocket } = this.settings.sockets;
    if (this.running.length < maxCallsPerSocket) return undefined;
    this.close(1008, `A socket may run ${maxCallsPerSocket} calls at once.`);
    return new TRPCError({ code: 'TOO_MANY_REQUESTS' });
  }

  /** Resolves when the queries and mutations in flight have ended. */
  async idle(): Promise<void> {
    const calls = this.running.filter(({ type }) => type !== 'subscription');
    await Promise.all(calls.map((call) => call.whenEnded()));
  }

  /** @param code RFC 6455 §7.4.1; 1013 is in IANA's registry */
  close(code?: number, reason?: string): void {
    this.isOpen = false;
    this.peer.close(code, reason);
  }

  /** Closes the socket of a client that does not read what it is sent: that would fill the memory. */
  #checkUnsent(): void {
    if (this.peer.bufferedBytes <= this.maxUnsentBytes) return;
    this.limited('unsent-bytes');
    this.close(1013, 'What is sent is not read.');
  }

  /** Sends every call of a batch that is too large its error. */
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
    const ctx = this.context as never;
    try {
      return getErrorShape({ config: this.settings.config, ctx, error, type, path, input });
    } catch (cause) {
      this.reportError(call, cause);
      return hiddenShape;
    }
  }

  #sendShape(call: CallInfo, shape: object): void {
    try {
      this.#send({ id: call.id, jsonrpc: call.jsonrpc, error: shape });
    } catch (cause) {
      this.reportError(call, cause);
      if (shape !== hiddenShape) this.#sendShape(call, hiddenShape);
    }
  }

  #send(message: OutgoingMessage): void {
    if (!this.isOpen) return;
    const { limits, sockets } = this.settings;
    const { output } = this.settings.config.transformer;
    const { result } = message;
    let maxBytes = Infinity;
    if ('error' in message) message.error = output.serialize(message.error);
    else if (result?.type === 'data') {
      result.data = output.serialize(result.data);
      maxBytes = limits.maxResponseBytes;
    }
    const encoder = sockets.experimental_encoder;
    // All of it at once, not the JSON of the data with text around it: a `toJSON` is given the name of its member.
    const frame = encoder ? encoder.encode(message) : (boundedJson(message, maxBytes) as string);
    if (encoder && encodedBytes(frame) > maxBytes) throw responseTooLarge(maxBytes);
    this.send(frame);
  }
}

const encodedBytes = (frame: string | Uint8Array): number =>
  typeof frame === 'string' ? utf8Length(frame) : frame.byteLength;
