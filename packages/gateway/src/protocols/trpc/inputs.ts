// Hot path: one object per request.
import { TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { isObject } from '../../http/isObject.ts';
import { BodyTooLargeError } from '../../http/request.ts';
import type { RawInputs } from '../../procedures/execute.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { TrpcSettings } from './options.ts';
import type { TrpcRequest } from './request.ts';

/**
 * The inputs of a request's calls, and what tRPC tells `createContext` and `responseMeta` about the request. JSON is parsed
 * when the first input is read; what that throws is the error of every call that reads one.
 */
export class RequestInputs implements RawInputs, TRPCRequestInfo {
  readonly #request: TrpcRequest;
  readonly #settings: TrpcSettings;
  #body: Uint8Array | undefined = undefined;
  #error: TRPCError | undefined = undefined;
  /** The inputs that were read. */
  #values: Record<number, unknown> | undefined = undefined;
  #form: Promise<FormData> | undefined = undefined;
  #calls: TRPCRequestInfo['calls'] | undefined = undefined;

  constructor(request: TrpcRequest, settings: TrpcSettings) {
    this.#request = request;
    this.#settings = settings;
  }

  get isBatchCall(): boolean {
    return this.#request.isBatch;
  }

  get accept(): TRPCRequestInfo['accept'] {
    return this.#request.accept as TRPCRequestInfo['accept'];
  }

  get type(): TRPCRequestInfo['type'] {
    return this.#request.type;
  }

  get connectionParams(): TRPCRequestInfo['connectionParams'] {
    return this.#request.connectionParams;
  }

  get signal(): AbortSignal {
    return this.#request.http.signal;
  }

  get url(): URL {
    return this.#request.url;
  }

  get calls(): TRPCRequestInfo['calls'] {
    const { paths, procedures } = this.#request;
    return (this.#calls ??= paths.map((path, batchIndex) => ({
      batchIndex,
      path,
      procedure: procedures[batchIndex]?.procedure ?? null,
      getRawInput: async () => this.read(batchIndex),
      result: () => this.known(batchIndex),
    })));
  }

  /** Reads the body of JSON, before any call runs: each of a batch would wait for it. @returns `undefined` if nothing waits */
  receive(): Promise<void> | undefined {
    const { error, http, media } = this.#request;
    if (error || media !== 'json' || http.method === 'GET') return undefined;
    const { maxBodyBytes } = this.#settings.limits;
    this.#body = http.bodyNow?.(maxBodyBytes);
    if (this.#body) return undefined;
    return http.body(maxBodyBytes).then(
      (body) => {
        this.#body = body;
      },
      (cause: unknown) => {
        this.#error = bodyError(cause);
      },
    );
  }

  /** The input of a call; a promise of a form. */
  read(index: number): unknown {
    const { lastEventId, media, procedures } = this.#request;
    if (media === 'form') return (this.#form ??= this.#readForm());
    if (this.#error) throw this.#error;
    try {
      this.#values ??= media === 'json' ? this.#parse() : [this.#readBytes()];
    } catch (cause) {
      this.#error = inputError(cause);
      throw this.#error;
    }
    const input = this.#values[index];
    if (!lastEventId || procedures[index]?.type !== 'subscription') return input;
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });
  }

  /** The input of a call, if it was read. */
  known(index: number): unknown {
    return this.#values?.[index];
  }

  #parse(): Record<number, unknown> {
    const { isBatch, paths, queryInput } = this.#request;
    const values = Object.create(null) as Record<number, unknown>;
    const text = this.#body === undefined ? queryInput : utf8.decode(this.#body);
    this.#body = undefined;
    if (!text) return values;
    const inputs: unknown = JSON.parse(text);
    if (!isBatch) {
      values[0] = this.#deserialize(inputs);
      return values;
    }
    if (!isObject(inputs)) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: '"input" needs to be an object when doing a batch call',
      });
    }
    for (let index = 0; index < paths.length; index += 1) {
      const input = inputs[index];
      if (input !== undefined) values[index] = this.#deserialize(input);
    }
    return values;
  }

  #deserialize(input: unknown): unknown {
    const { config, limits } = this.#settings;
    if (isDeeper(input, limits.maxJsonDepth)) throw tooDeep(limits.maxJsonDepth);
    return config.transformer.input.deserialize(input);
  }

  async #readForm(): Promise<FormData> {
    const { http } = this.#request;
    try {
      const body = await http.body(this.#settings.limits.maxBodyBytes);
      const headers = { 'content-type': http.header('content-type') as string };
      const form = await new Response(body, { headers }).formData();
      this.#values = [form];
      return form;
    } catch (cause) {
      throw bodyError(cause);
    }
  }

  /** The body as a stream that is read no further than its consumer asks. */
  #readBytes(): ReadableStream<Uint8Array> {
    const body = this.#request.http.bodyChunks(this.#settings.limits.maxBodyBytes);
    const chunks = body[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const chunk = await chunks.next();
            if (chunk.done) controller.close();
            else controller.enqueue(chunk.value);
          } catch (cause) {
            throw cause instanceof BodyTooLargeError ? bodyError(cause) : cause;
          }
        },
        async cancel() {
          await chunks.return?.();
        },
      },
      // A stream's own buffer would be filled before its consumer asks.
      { highWaterMark: 0 },
    );
  }
}

/** The error of a call whose body cannot be read; where it is too large with tRPC's own message. */
const bodyError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: 'PAYLOAD_TOO_LARGE' })
    : inputError(cause);

const inputError = (cause: unknown): TRPCError =>
  cause instanceof TRPCError
    ? cause
    : new TRPCError({
        code: 'BAD_REQUEST',
        message: cause instanceof Error ? cause.message : 'Invalid input',
        cause,
      });

const utf8 = new TextDecoder();
