// Hot path: every message on a WebSocket is read here, and every frame is encoded here.
import { Buffer } from 'node:buffer';
import {
  getErrorShape,
  getTRPCErrorFromUnknown,
  isTrackedEnvelope,
  TRPCError,
  type AnyTRPCRouter,
} from '@trpc/server';
import { parseConnectionParamsFromUnknown, type TRPCRequestInfo } from '@trpc/server/http';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { answerTooLarge, boundedJson } from '../../policies/responseBytes.ts';
import type { RpcOptions, SocketOptions } from './options.ts';

/** What the sockets of a router share. */
export interface SocketFormat {
  readonly config: AnyTRPCRouter['_def']['_config'];
  /** Default: JSON in text frames. */
  readonly encoder: SocketOptions['experimental_encoder'];
  readonly maxBatchSize: number;
  readonly maxResponseBytes: number;
  readonly onError: RpcOptions<AnyTRPCRouter>['onError'];
}

/** Takes the encoded frames of one socket. */
export interface FrameReceiver {
  /** Whether its client still takes frames: nothing is encoded otherwise. */
  readonly isOpen: boolean;
  send(frame: Frame): void;
}

type Frame = string | Uint8Array;

/** What an error names: a call, or none. */
export interface CallInfo {
  readonly id: string | number | null;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string | undefined;
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly input: unknown;
}

export const noCall: CallInfo = {
  id: null,
  jsonrpc: undefined,
  path: undefined,
  type: 'unknown',
  input: undefined,
};

/** The error for clients where theirs cannot be formatted or encoded. */
const fallbackShape = {
  code: -32_603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

/**
 * The messages of one WebSocket in both directions: what a message asks for, the frames of outputs, events and errors, and
 * the calls of `onError`, as tRPC's connection handler (@trpc/server 11.25) has them.
 */
export class SocketMessages {
  /** What `createContext` returned, for error formatters and `onError`. */
  context: unknown = undefined;
  readonly #format: SocketFormat;
  readonly #request: HttpRequest;
  readonly #receiver: FrameReceiver;

  constructor(format: SocketFormat, request: HttpRequest, receiver: FrameReceiver) {
    this.#format = format;
    this.#request = request;
    this.#receiver = receiver;
  }

  get isOpen(): boolean {
    return this.#receiver.isOpen;
  }

  /** What a message asks for; `undefined` for a malformed one, whose error is sent. */
  read(data: Buffer, isBinary: boolean): readonly TRPCClientOutgoingMessage[] | undefined {
    const { config, maxBatchSize } = this.#format;
    try {
      const decoded = this.#decode(data, isBinary);
      if (!Array.isArray(decoded)) return [parseTRPCMessage(decoded, config.transformer)];
      if (decoded.length <= maxBatchSize)
        return decoded.map((part) => parseTRPCMessage(part, config.transformer));
      this.#rejectBatch(decoded);
    } catch (cause) {
      // Not reported to `onError`, as in tRPC's handler.
      const error = new TRPCError({ code: 'PARSE_ERROR', cause });
      this.#sendShapeOrFallback(noCall, this.#shapeOf(noCall, error));
    }
    return undefined;
  }

  /** @throws {TRPCError} `PARSE_ERROR` */
  readConnectionParams(data: Buffer, isBinary: boolean): TRPCRequestInfo['connectionParams'] {
    let message: unknown;
    try {
      message = this.#decode(data, isBinary);
      if (!isObject(message)) throw new Error('Message was not an object');
    } catch (cause) {
      throw new TRPCError({ code: 'PARSE_ERROR', message: 'Malformed TRPCConnectionParamsMessage', cause });
    }
    return parseConnectionParamsFromUnknown(message.data);
  }

  /**
   * The frame of an output; `undefined` once the socket is closed.
   * @throws {LimitError} `response-bytes`; what a transformer or an encoder throws
   */
  encodeOutput({ id, jsonrpc }: CallInfo, output: unknown): Frame | undefined {
    if (!this.isOpen) return undefined;
    // The envelope around the data, not text around its JSON: a `toJSON` is given the name of its member.
    const result = { type: 'data', data: this.#serialize(output) };
    return this.#encode({ id, jsonrpc, result }, this.#format.maxResponseBytes);
  }

  /** @throws as `encodeOutput` does */
  sendEvent({ id, jsonrpc }: CallInfo, event: unknown): void {
    if (!this.isOpen) return;
    const result = isTrackedEnvelope(event)
      ? { type: 'data', data: this.#serialize({ id: event[0], data: event[1] }), id: event[0] }
      : { type: 'data', data: this.#serialize(event) };
    this.send(this.#encode({ id, jsonrpc, result }, this.#format.maxResponseBytes));
  }

  /** Says that a subscription has started, or stopped. */
  sendState({ id, jsonrpc }: CallInfo, type: 'started' | 'stopped'): void {
    if (this.isOpen) this.send(this.#encode({ id, jsonrpc, result: { type } }));
  }

  /** Tells the client to open another socket. */
  sendReconnect(): void {
    if (this.isOpen) this.send(this.#encode({ id: null, method: 'reconnect' }));
  }

  /** Reports an error and sends it. It never throws: where it cannot be encoded, the client gets a bare error. */
  fail(call: CallInfo, cause: unknown): void {
    const error = this.report(call, cause);
    this.#sendShapeOrFallback(call, this.#shapeOf(call, error));
  }

  /** @throws what its shape cannot be encoded for */
  sendError(call: CallInfo, cause: unknown): void {
    const error = this.report(call, cause);
    this.#sendShape(call, this.#shapeOf(call, error));
  }

  /** Calls `onError`, whose own failure, at once or later, is ignored. */
  report({ path, type, input }: CallInfo, cause: unknown): TRPCError {
    const error = getTRPCErrorFromUnknown(cause);
    const { onError } = this.#format;
    const info = { error, path, type, ctx: this.context as never, req: this.#request, input };
    if (onError) (async () => onError(info))().catch(() => {});
    return error;
  }

  send(frame: Frame): void {
    this.#receiver.send(frame);
  }

  #rejectBatch(parts: readonly unknown[]): void {
    const error = new TRPCError({ code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    this.report(noCall, error);
    const shape = this.#shapeOf(noCall, error);
    const calls: CallInfo[] = [];
    for (const part of parts) {
      if (!isObject(part) || part.method === 'subscription.stop') continue;
      const { id, jsonrpc } = part;
      if (typeof id !== 'number' && typeof id !== 'string') continue;
      calls.push({ ...noCall, id, jsonrpc: jsonrpc === '2.0' ? jsonrpc : undefined });
    }
    for (const call of calls.length > 0 ? calls : [noCall]) this.#sendShapeOrFallback(call, shape);
  }

  #sendShapeOrFallback(call: CallInfo, shape: unknown): void {
    try {
      this.#sendShape(call, shape);
    } catch (cause) {
      this.report(call, cause);
      try {
        this.#sendShape(call, fallbackShape);
      } catch (again) {
        this.report(noCall, again);
      }
    }
  }

  #sendShape({ id, jsonrpc }: CallInfo, shape: unknown): void {
    if (this.isOpen) this.send(this.#encode({ id, jsonrpc, error: this.#serialize(shape) }));
  }

  #shapeOf(call: CallInfo, error: TRPCError): unknown {
    const { path, type, input } = call;
    try {
      return getErrorShape({
        config: this.#format.config,
        ctx: this.context as never,
        error,
        type,
        path,
        input,
      });
    } catch (cause) {
      this.report(call, cause);
      return fallbackShape;
    }
  }

  #serialize(value: unknown): unknown {
    return this.#format.config.transformer.output.serialize(value);
  }

  #encode(message: object, maxBytes = Infinity): Frame {
    const { encoder } = this.#format;
    if (encoder === undefined) return boundedJson(message, maxBytes) as string;
    const frame = encoder.encode(message);
    if (Buffer.byteLength(frame) > maxBytes) throw answerTooLarge(maxBytes);
    return frame;
  }

  #decode(data: Buffer, isBinary: boolean): unknown {
    const { encoder } = this.#format;
    if (encoder) return encoder.decode(isBinary ? data : data.toString());
    if (!isBinary) return JSON.parse(data.toString());
    // The words of tRPC's own encoder.
    throw new Error(
      'jsonEncoder received binary data. JSON uses text frames. Use a binary encoder for binary data.',
    );
  }
}
