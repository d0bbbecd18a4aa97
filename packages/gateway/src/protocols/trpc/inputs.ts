import { TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { isObject } from '../../http/isObject.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { Limits } from '../../policies/limits.ts';
import type { RawInputs } from '../../procedures/execute.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { TrpcRequest } from './request.ts';

/** The inputs of a request's calls. */
export interface CallInputs extends RawInputs {
  /** The input of a call, if it was read. */
  known(index: number): unknown;
}

/** JSON inputs, parsed together when the first is read. What that throws is the error of every call that reads one. */
export class JsonInputs implements CallInputs {
  readonly #request: TrpcRequest;
  readonly #transformer: { deserialize(value: unknown): unknown };
  readonly #limits: Limits;
  #body: Uint8Array | undefined = undefined;
  #error: TRPCError | undefined = undefined;
  #values: Record<number, unknown> | undefined = undefined;

  constructor(request: TrpcRequest, transformer: { deserialize(value: unknown): unknown }, limits: Limits) {
    this.#request = request;
    this.#transformer = transformer;
    this.#limits = limits;
  }

  /** Reads the body, before any call runs: each of a batch would wait for it. @returns `undefined` if nothing waits */
  receive(): Promise<void> | undefined {
    const { http } = this.#request;
    if (http.method === 'GET') return undefined;
    const { maxBodyBytes } = this.#limits;
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

  read(index: number): unknown {
    if (this.#error) throw this.#error;
    if (this.#values === undefined) {
      try {
        this.#values = this.#parse();
      } catch (cause) {
        this.#error = inputError(cause);
        throw this.#error;
      }
    }
    const input = this.#values[index];
    const { procedures, lastEventId } = this.#request;
    if (!lastEventId || procedures[index]?.type !== 'subscription') return input;
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });
  }

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
    const { maxJsonDepth } = this.#limits;
    if (isDeeper(input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return this.#transformer.deserialize(input);
  }
}

/** The form, or the bytes, that a request sends for its one call. */
export class UploadInput implements CallInputs {
  readonly #request: TrpcRequest;
  readonly #maxBodyBytes: number;
  #input: unknown = undefined;
  #reading: Promise<unknown> | undefined = undefined;

  constructor(request: TrpcRequest, { maxBodyBytes }: Limits) {
    this.#request = request;
    this.#maxBodyBytes = maxBodyBytes;
  }

  read(): unknown {
    const { http, media } = this.#request;
    if (media === 'octets') return (this.#input ??= byteStream(http, this.#maxBodyBytes));
    return (this.#reading ??= this.#readForm(http));
  }

  known(): unknown {
    return this.#input;
  }

  async #readForm(http: HttpRequest): Promise<FormData> {
    try {
      const body = await http.body(this.#maxBodyBytes);
      const headers = { 'content-type': http.header('content-type') as string };
      const form = await new Response(body, { headers }).formData();
      this.#input = form;
      return form;
    } catch (cause) {
      throw bodyError(cause);
    }
  }
}

/** What tRPC tells `createContext` and `responseMeta` about a request. Few read the URL or single calls. */
export class RequestInfo implements TRPCRequestInfo {
  readonly #request: TrpcRequest;
  readonly #inputs: CallInputs;
  #calls: TRPCRequestInfo['calls'] | undefined = undefined;

  constructor(request: TrpcRequest, inputs: CallInputs) {
    this.#request = request;
    this.#inputs = inputs;
  }

  get isBatchCall(): boolean {
    return this.#request.isBatch;
  }

  get accept(): TRPCRequestInfo['accept'] {
    return this.#request.media === 'json' ? (this.#request.accept as TRPCRequestInfo['accept']) : null;
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
      getRawInput: async () => this.#inputs.read(batchIndex),
      result: () => this.#inputs.known(batchIndex),
    })));
  }
}

/** The body as a stream that is read no further than its consumer asks. */
function byteStream(http: HttpRequest, maxBodyBytes: number): ReadableStream<Uint8Array> {
  const chunks = http.bodyChunks(maxBodyBytes)[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let chunk = await chunks.next();
          // Nothing is pulled again before something is enqueued.
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          while (!chunk.done && chunk.value.byteLength === 0) chunk = await chunks.next();
          if (chunk.done) controller.close();
          else controller.enqueue(chunk.value);
        } catch (cause) {
          controller.error(cause instanceof BodyTooLargeError ? bodyError(cause) : cause);
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
