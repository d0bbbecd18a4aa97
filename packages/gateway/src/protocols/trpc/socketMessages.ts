// Hot path: every message on a WebSocket is read here, and every frame is encoded here.
import { Buffer } from 'node:buffer';
import { getErrorShape, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { parseConnectionParamsFromUnknown, type TRPCRequestInfo } from '@trpc/server/http';
import { parseTRPCMessage, type TRPCClientOutgoingMessage } from '@trpc/server/rpc';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Limits } from '../../policies/limits.ts';
import { answerTooLarge, boundedJson } from '../../policies/responseBytes.ts';
import { failureOf } from '../../procedures/execute.ts';
import type { SocketSettings } from './options.ts';

/** The options of a gateway that messages depend on. */
export interface MessageOptions {
  readonly router: AnyTRPCRouter;
  readonly rpc: {
    readonly maxBatchSize: number;
    readonly onError?: ((info: never) => unknown) | undefined;
  };
  readonly limits: Limits;
  readonly sockets: SocketSettings;
}

/** Takes the frames of one socket. */
export interface FrameReceiver {
  /** Nothing is encoded for a socket that is not open. */
  readonly isOpen: boolean;
  send(frame: string | Uint8Array): void;
}

/** A message as it came. */
export interface RawMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

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

/** The client's error where its own cannot be formatted or encoded. */
const fallbackShape = {
  code: -32_603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

/** Reads the messages of one WebSocket, sends its frames and reports its errors, as tRPC's handler does (@trpc/server 11.25). */
export class SocketMessages {
  /** What `createContext` returned, for error formatters and `onError`. */
  context: unknown = undefined;
  readonly #options: MessageOptions;
  readonly #request: HttpRequest;
  readonly #receiver: FrameReceiver;

  constructor(options: MessageOptions, request: HttpRequest, receiver: FrameReceiver) {
    this.#options = options;
    this.#request = request;
    this.#receiver = receiver;
  }

  /** The calls in a message; `undefined` for a malformed message, whose error is sent. */
  read(message: RawMessage): readonly TRPCClientOutgoingMessage[] | undefined {
    const { transformer } = this.#config;
    try {
      const decoded = this.#decode(message);
      if (!Array.isArray(decoded)) return [parseTRPCMessage(decoded, transformer)];
      if (decoded.length <= this.#options.rpc.maxBatchSize)
        return decoded.map((part) => parseTRPCMessage(part, transformer));
      this.#rejectBatch(decoded);
    } catch (cause) {
      // Not for `onError`, as in tRPC's handler.
      this.#sendShape(noCall, this.#shapeOf(noCall, new TRPCError({ code: 'PARSE_ERROR', cause })));
    }
    return undefined;
  }

  /** @throws {TRPCError} `PARSE_ERROR` */
  readConnectionParams(message: RawMessage): TRPCRequestInfo['connectionParams'] {
    let decoded: unknown;
    try {
      decoded = this.#decode(message);
      if (!isObject(decoded)) throw new Error('Message was not an object');
    } catch (cause) {
      throw new TRPCError({ code: 'PARSE_ERROR', message: 'Malformed TRPCConnectionParamsMessage', cause });
    }
    return parseConnectionParamsFromUnknown(decoded.data);
  }

  /**
   * Sends an output or an event.
   * @param eventId of a tracked event
   * @throws {LimitError} `response-bytes`; what a transformer or an encoder throws
   */
  sendData({ id, jsonrpc }: CallInfo, output: unknown, eventId?: string): void {
    if (!this.#receiver.isOpen) return;
    const data = this.#serialize(output);
    const result = eventId === undefined ? { type: 'data', data } : { type: 'data', data, id: eventId };
    this.#send({ id, jsonrpc, result }, this.#options.limits.maxResponseBytes);
  }

  /** Tells that a subscription has started or stopped. */
  sendState({ id, jsonrpc }: CallInfo, type: 'started' | 'stopped'): void {
    this.#send({ id, jsonrpc, result: { type } });
  }

  /** Tells the client to open another socket. */
  sendReconnect(): void {
    this.#send({ id: null, method: 'reconnect' });
  }

  /** Reports an error and sends it. It never throws: where it cannot be encoded, the client gets a bare error. */
  fail(call: CallInfo, cause: unknown): void {
    try {
      this.sendError(call, cause);
    } catch (encodingError) {
      this.report(call, encodingError);
      this.#sendShape(call, fallbackShape);
    }
  }

  /** @throws what the error cannot be encoded for */
  sendError(call: CallInfo, cause: unknown): void {
    const shape = this.#shapeOf(call, this.report(call, cause));
    if (!this.#receiver.isOpen) return;
    this.#send({ id: call.id, jsonrpc: call.jsonrpc, error: this.#serialize(shape) });
  }

  /** Calls `onError`, whose own failure, at once or later, is ignored. */
  report({ path, type, input }: CallInfo, cause: unknown): TRPCError {
    const error = failureOf(cause).error;
    const { onError } = this.#options.rpc;
    const info = { error, path, type, ctx: this.context, req: this.#request, input };
    if (onError) (async () => onError(info as never))().catch(() => {});
    return error;
  }

  /** Sends every call of a batch that is too large its error. */
  #rejectBatch(parts: readonly unknown[]): void {
    const error = new TRPCError({ code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    const shape = this.#shapeOf(noCall, this.report(noCall, error));
    const calls: CallInfo[] = [];
    for (const part of parts) {
      if (!isObject(part) || part.method === 'subscription.stop') continue;
      const { id, jsonrpc } = part;
      if (typeof id !== 'number' && typeof id !== 'string') continue;
      calls.push({ ...noCall, id, jsonrpc: jsonrpc === '2.0' ? jsonrpc : undefined });
    }
    for (const call of calls.length > 0 ? calls : [noCall]) this.#sendShape(call, shape);
  }

  #sendShape(call: CallInfo, shape: unknown): void {
    const { id, jsonrpc } = call;
    if (!this.#receiver.isOpen) return;
    try {
      this.#send({ id, jsonrpc, error: this.#serialize(shape) });
    } catch (cause) {
      this.report(call, cause);
      if (shape !== fallbackShape) this.#sendShape(call, fallbackShape);
    }
  }

  #shapeOf(call: CallInfo, error: TRPCError): unknown {
    const { path, type, input } = call;
    const ctx = this.context as never;
    try {
      return getErrorShape({ config: this.#config, ctx, error, type, path, input });
    } catch (cause) {
      this.report(call, cause);
      return fallbackShape;
    }
  }

  get #config() {
    return this.#options.router._def._config;
  }

  #serialize(value: unknown): unknown {
    return this.#config.transformer.output.serialize(value);
  }

  #send(message: object, maxBytes = Infinity): void {
    if (!this.#receiver.isOpen) return;
    const { experimental_encoder: encoder } = this.#options.sockets;
    // All of it at once, not the JSON of the data with text around it: a `toJSON` is given the name of its member.
    const frame = encoder ? encoder.encode(message) : (boundedJson(message, maxBytes) as string);
    if (encoder && Buffer.byteLength(frame) > maxBytes) throw answerTooLarge(maxBytes);
    this.#receiver.send(frame);
  }

  #decode({ data, isBinary }: RawMessage): unknown {
    const { experimental_encoder: encoder } = this.#options.sockets;
    if (encoder) return encoder.decode(isBinary ? data : data.toString());
    if (!isBinary) return JSON.parse(data.toString());
    throw new Error(
      // tRPC's own words.
      'jsonEncoder received binary data. JSON uses text frames. Use a binary encoder for binary data.',
    );
  }
}
