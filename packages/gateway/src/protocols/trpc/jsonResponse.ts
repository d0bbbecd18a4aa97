// Hot path: the JSON of an output is made once, and its envelope is text around it (0.2 µs less than as an object).
import { Buffer } from 'node:buffer';
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import { isThenable } from '../../http/after.ts';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import { batchTooLarge, boundedJson, largestResponse } from '../../policies/responseBytes.ts';
import { Failure } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { RequestCalls } from './requestCalls.ts';
import { jsonHeaders, type Item } from './responseHead.ts';

/** Answers a call, or a batch of calls, by JSON. */
export class JsonResponse extends RequestCalls {
  readonly #outcomes: unknown[] = [];
  #pending = this.request.paths.length;
  /** What `onError` threw, or the first output that could not be written. */
  #thrown: { readonly cause: unknown } | undefined = undefined;
  /** 0: none yet. */
  #status = 0;
  readonly #errors: TRPCError[] = [];
  readonly #items: Item[] = [];
  /** At least as many bytes as were written: a UTF-16 code unit is 1 to 3 bytes of UTF-8. Counted if that is too many. */
  #bytes = 0;
  #isCounted = false;
  #isFull = false;

  settle(index: number, outcome: unknown): void {
    this.#outcomes[index] = outcome;
    if (outcome instanceof Failure) {
      try {
        this.report(outcome.error, index);
      } catch (cause) {
        this.#thrown ??= { cause };
      }
    }
    this.#pending -= 1;
    if (this.#pending === 0) this.end();
  }

  protected write(): ResponseDraft {
    const { isBatch } = this.request;
    // tRPC sets the type of a batch before it waits for the calls, and that of a single call behind it.
    if (isBatch || !this.#thrown) this.head.format = jsonHeaders;
    if (this.#thrown) throw this.#thrown.cause;
    let text = isBatch ? '[' : '';
    for (let index = 0; index < this.#outcomes.length; index += 1) {
      if (index > 0) text += ',';
      text += this.#part(index, text);
    }
    this.decide(this.#status, this.#items, this.#errors);
    // tRPC calls `responseMeta` before it writes the outputs.
    if (this.#thrown) throw (this.#thrown as { readonly cause: unknown }).cause;
    return this.head.answer(isBatch ? `${text}]` : text);
  }

  /** The JSON of an outcome. */
  #part(index: number, before: string): string {
    const outcome = this.#outcomes[index];
    const { isBatch, type } = this.request;
    let error: TRPCError;
    if (outcome instanceof Failure) error = outcome.error;
    else {
      const written = isStreamLike(outcome) ? streamLike() : this.#success(outcome, before);
      if (typeof written === 'string') {
        if (this.settings.options.responseMeta) this.#items.push({ result: { data: outcome } });
        this.#addStatus(200);
        return written;
      }
      error = written;
      if (error instanceof LimitError) this.report(error, index);
      else if (!isBatch) throw error;
    }
    const item = this.errorItem(error, index, isBatch ? undefined : type);
    this.#errors.push(error);
    this.#items.push(item);
    this.#addStatus(getHTTPStatusCode(item as never, [error]));
    try {
      return this.errorText(item);
    } catch (cause) {
      this.#thrown ??= { cause };
      return '';
    }
  }

  /** The JSON of an output; an error where it is too large. */
  #success(output: unknown, before: string): string | LimitError {
    const { maxResponseBytes } = this.settings.limits;
    const { isBatch } = this.request;
    let text = '';
    if (!this.#isFull) {
      try {
        text = this.#serialize(output);
        if (isBatch) this.#isFull = !this.#fits(text, before);
      } catch (cause) {
        if (cause instanceof LimitError) {
          if (!isBatch) return cause;
          this.#isFull = true;
        } else this.#thrown ??= { cause };
      }
    }
    return this.#isFull ? batchTooLarge(maxResponseBytes) : text;
  }

  /** @throws {LimitError} `response-bytes` */
  #serialize(output: unknown): string {
    const { maxResponseBytes } = this.settings.limits;
    const data: unknown = this.settings.config.transformer.output.serialize(output);
    // A `toJSON` is told the name of its member.
    const hasName = typeof (data as { readonly toJSON?: unknown } | null | undefined)?.toJSON === 'function';
    const text = hasName ? undefined : boundedJson(data, maxResponseBytes);
    return text === undefined
      ? (boundedJson({ result: { data } }, maxResponseBytes) as string)
      : `{"result":{"data":${text}}}`;
  }

  /** Whether the outputs of a batch are within the limit together. */
  #fits(text: string, before: string): boolean {
    const maxBytes = largestResponse(this.settings.limits.maxResponseBytes);
    this.#bytes += this.#isCounted ? Buffer.byteLength(text) : text.length * 3;
    if (this.#bytes > maxBytes && !this.#isCounted) {
      this.#isCounted = true;
      this.#bytes = Buffer.byteLength(before) + Buffer.byteLength(text);
    }
    return this.#bytes <= maxBytes;
  }

  #addStatus(status: number): void {
    this.#status = this.#status === 0 || this.#status === status ? status : 207;
  }
}

const streamLike = () =>
  new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  });

/** Whether an output is, or has a member, that comes later. */
function isStreamLike(output: unknown): boolean {
  if (!isObject(output)) return false;
  if (isAsyncIterable(output)) return true;
  for (const value of Object.values(output)) {
    if (typeof value !== 'object' && typeof value !== 'function') continue;
    if (isAsyncIterable(value)) return true;
    if (isThenable(value) && typeof (value as { readonly catch?: unknown }).catch === 'function') return true;
  }
  return false;
}
