// Hot path: an output is encoded once, and its envelope is concatenated (0.2 µs less than encoding both as an object).
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import type { OutgoingResponse } from '../../http/outgoingResponse.ts';
import { utf8Length } from '../../http/utf8.ts';
import { batchTooLarge, boundedJson, effectiveLimit, maxErrorBytes } from '../../calls/responseBytes.ts';
import { Failure } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { discardOutput, isStreamLike } from './jsonLines.ts';
import { jsonHeaders, RequestCalls, type ResultItem } from './requestCalls.ts';
import { blobError, defaultShape, type EncodedError } from './trpcErrors.ts';

/** Responds to a call, or a batch of calls, with JSON. */
export class JsonResponse extends RequestCalls {
  readonly #outcomes: unknown[] = [];
  #pending = this.request.paths.length;
  /** Size of a batch so far, in bytes. `undefined` while an estimate suffices, `Infinity` if the limit is exceeded. */
  #bytes: number | undefined = undefined;

  settle(index: number, outcome: unknown): void {
    this.reservation?.settle(outcome);
    this.#outcomes[index] = outcome;
    if (outcome instanceof Failure) this.report(outcome.error, this.callOf(index));
    this.#pending -= 1;
    // Less than 0 for a call with a key that ends after its deadline.
    if (this.#pending <= 0) this.end();
  }

  protected override get hasError(): boolean {
    return this.#outcomes.some((outcome) => outcome instanceof Failure);
  }

  protected write(): OutgoingResponse {
    const { isBatchCall } = this.request;
    const { responseMeta } = this.settings.trpc;
    this.format = jsonHeaders;
    this.#bytes = undefined;
    const items: ResultItem[] = [];
    const errors: TRPCError[] = [];
    let status = 0;
    let text = isBatchCall ? '[' : '';
    for (let index = 0; index < this.#outcomes.length; index += 1) {
      if (index > 0) text += ',';
      const outcome = this.#outcomes[index];
      const written = outcome instanceof Failure ? outcome.error : this.#encodeOutput(outcome, index, text);
      let ownStatus = 200;
      if (typeof written === 'string') {
        text += written;
        if (responseMeta) items.push({ result: { data: outcome } });
      } else {
        const { error, shape, text: json } = this.#encodeError(written, index, text);
        text += json;
        items.push({ error: shape });
        errors.push(error);
        ownStatus = getHTTPStatusCode({ error: shape } as never, [error]);
      }
      status = status === 0 || status === ownStatus ? ownStatus : 207;
    }
    if (isBatchCall) text += ']';
    return this.response(text, status, items, errors);
  }

  protected override discard(): void {
    for (const outcome of this.#outcomes) if (isStreamLike(outcome)) discardOutput(outcome);
  }

  /** Encodes an error, which counts for the limit of a batch like an output. */
  #encodeError(
    error: TRPCError,
    index: number,
    before: string,
  ): Pick<EncodedError, 'text' | 'shape'> & { readonly error: TRPCError } {
    const { errors, limits } = this.settings;
    const { isBatchCall, type } = this.request;
    const call = this.callOf(index);
    const isOutcome = this.#outcomes[index] instanceof Failure;
    if (error instanceof LimitError && !isOutcome) this.report(error, call);
    let encoded = errors.encode(this.shapeOf(error, isBatchCall ? call : { ...call, type }), this.context);
    if (
      isBatchCall &&
      !this.#isWithinLimit(encoded.text, before) &&
      utf8Length(encoded.text) > maxErrorBytes(0)
    ) {
      const replacement = batchTooLarge(limits.maxResponseBytes);
      this.context.limit = replacement.limit;
      encoded = { ...errors.encode(defaultShape(replacement), this.context), replacement };
    }
    return { text: encoded.text, shape: encoded.shape, error: encoded.replacement ?? error };
  }

  /**
   * Encodes an output with its envelope. Returns an error if it is too large, or a stream or a `Blob` in a batch.
   * @param before the text of the batch so far
   */
  #encodeOutput(output: unknown, index: number, before: string): string | TRPCError {
    const { config, limits } = this.settings;
    const { isBatchCall, procedures } = this.request;
    let notSupported: TRPCError | undefined;
    if (isStreamLike(output)) notSupported = streamNotSupported();
    else if (output instanceof Blob) notSupported = blobError(procedures[index]);
    if (notSupported) {
      // Otherwise `discard` does it.
      if (!isBatchCall) throw notSupported;
      discardOutput(output);
      return notSupported;
    }
    try {
      // Once the limit is exceeded, later outputs are not encoded.
      if (this.#bytes === Infinity) return batchTooLarge(limits.maxResponseBytes);
      const data: unknown = config.transformer.output.serialize(output);
      // `toJSON` receives the name of its member, so the envelope must be encoded with it.
      const hasName =
        typeof (data as { readonly toJSON?: unknown } | null | undefined)?.toJSON === 'function';
      const bare = hasName ? undefined : boundedJson(data, limits.maxResponseBytes);
      const text =
        bare === undefined
          ? (boundedJson({ result: { data } }, limits.maxResponseBytes) as string)
          : `{"result":{"data":${bare}}}`;
      if (!isBatchCall || this.#isWithinLimit(text, before)) return text;
    } catch (cause) {
      if (!(cause instanceof LimitError)) throw cause;
      if (!isBatchCall) return cause;
    }
    this.#bytes = Infinity;
    return batchTooLarge(limits.maxResponseBytes);
  }

  /**
   * Whether a batch stays within the limit. A UTF-16 code unit is at most 3 bytes of UTF-8, so bytes are counted only
   * if that estimate exceeds the limit.
   */
  #isWithinLimit(text: string, before: string): boolean {
    const maxBytes = effectiveLimit(this.settings.limits.maxResponseBytes);
    if (this.#bytes === undefined && (before.length + text.length) * 3 <= maxBytes) return true;
    this.#bytes = (this.#bytes ?? utf8Length(before)) + utf8Length(text);
    return this.#bytes <= maxBytes;
  }
}

const streamNotSupported = () =>
  new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  });
