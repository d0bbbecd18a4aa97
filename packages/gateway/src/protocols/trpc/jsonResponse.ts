// Hot path: the JSON of an output is made once, and its envelope is text around it (0.2 µs less than as an object).
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import { utf8Length } from '../../http/utf8.ts';
import type { CallScope } from '../../policies/callScope.ts';
import { batchTooLarge, boundedJson, largestResponse } from '../../policies/responseBytes.ts';
import { Failure } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { hasLater } from './jsonLines.ts';
import { jsonHeaders, RequestCalls, type Item } from './requestCalls.ts';

/** Answers a call, or a batch of calls, by JSON. */
export class JsonResponse extends RequestCalls {
  readonly #outcomes: unknown[] = [];
  #pending = this.request.paths.length;
  /** 0: none yet. */
  #status = 0;
  readonly #errors: TRPCError[] = [];
  readonly #items: Item[] = [];
  readonly #hasDeadlines =
    this.request.isBatchCall && this.request.procedures.some((each) => each?.deadlineMs !== undefined);
  /** The bytes of a batch; `undefined` as long as they are known to be few, `Infinity` once they are too many. */
  #bytes: number | undefined = undefined;

  /** One for each where one has a deadline of its own: it goes on where another passes its deadline. */
  protected override callScope(): CallScope {
    return this.#hasDeadlines ? this.scope.forOneCall() : this.scope;
  }

  settle(index: number, outcome: unknown): void {
    this.#outcomes[index] = outcome;
    try {
      if (outcome instanceof Failure) this.report(outcome.error, this.callOf(index));
    } catch (cause) {
      this.thrown ??= { cause };
    }
    this.#pending -= 1;
    if (this.#pending === 0) this.end();
  }

  override settleLate(index: number, outcome: unknown): void {
    if (this.request.isBatchCall) return;
    this.#outcomes[index] = outcome;
    this.#items.length = 0;
    this.#errors.length = 0;
    this.#status = 0;
    this.#bytes = undefined;
    this.thrown = undefined;
    this.endLate(!(outcome instanceof Failure));
  }

  protected override get hasFailed(): boolean {
    return this.#outcomes.some((outcome) => outcome instanceof Failure);
  }

  protected write(): ResponseDraft {
    const { isBatchCall } = this.request;
    this.format = jsonHeaders;
    if (this.thrown) throw this.thrown.cause;
    let text = isBatchCall ? '[' : '';
    for (let index = 0; index < this.#outcomes.length; index += 1) {
      if (index > 0) text += ',';
      text += this.#part(index, text);
    }
    return this.response(isBatchCall ? `${text}]` : text, this.#status, this.#items, this.#errors);
  }

  /** The JSON of an outcome. What cannot be written is `thrown`, after tRPC has called `responseMeta`. */
  #part(index: number, before: string): string {
    const outcome = this.#outcomes[index];
    const { isBatchCall, type } = this.request;
    const written = outcome instanceof Failure ? outcome.error : this.#success(outcome, before);
    if (typeof written === 'string') {
      if (this.settings.rpc.responseMeta) this.#items.push({ result: { data: outcome } });
      this.#addStatus(200);
      return written;
    }
    const call = this.callOf(index);
    if (written instanceof LimitError && !(outcome instanceof Failure)) this.report(written, call);
    const item = { error: this.shapeOf(written, isBatchCall ? call : { ...call, type }) };
    this.#errors.push(written);
    this.#items.push(item);
    this.#addStatus(getHTTPStatusCode(item as never, [written]));
    try {
      return this.errorText(item.error);
    } catch (cause) {
      this.thrown ??= { cause };
      return '';
    }
  }

  /** The JSON of an output; an error where it is too large, or a stream in a batch. */
  #success(output: unknown, before: string): string | TRPCError {
    if (isStreamLike(output)) {
      if (!this.request.isBatchCall) throw streamLike();
      return streamLike();
    }
    try {
      return this.#serialize(output, before);
    } catch (cause) {
      if (cause instanceof LimitError) {
        this.#bytes = Infinity;
        return this.request.isBatchCall ? batchTooLarge(this.settings.limits.maxResponseBytes) : cause;
      }
      this.thrown ??= { cause };
      return '';
    }
  }

  /** @throws {LimitError} `response-bytes` */
  #serialize(output: unknown, before: string): string {
    const { maxResponseBytes } = this.settings.limits;
    // No output behind one that is too large is written.
    if (this.#bytes === Infinity) throw batchTooLarge(maxResponseBytes);
    const data: unknown = this.settings.config.transformer.output.serialize(output);
    // A `toJSON` is told the name of its member.
    const hasName = typeof (data as { readonly toJSON?: unknown } | null | undefined)?.toJSON === 'function';
    const bare = hasName ? undefined : boundedJson(data, maxResponseBytes);
    const text =
      bare === undefined
        ? (boundedJson({ result: { data } }, maxResponseBytes) as string)
        : `{"result":{"data":${bare}}}`;
    if (this.request.isBatchCall && !this.#fits(text, before)) throw batchTooLarge(maxResponseBytes);
    return text;
  }

  /**
   * Whether a batch stays within the limit. A UTF-16 code unit is 1 to 3 bytes of UTF-8: they are counted where that
   * may be too many.
   */
  #fits(text: string, before: string): boolean {
    const maxBytes = largestResponse(this.settings.limits.maxResponseBytes);
    if (this.#bytes === undefined && (before.length + text.length) * 3 <= maxBytes) return true;
    this.#bytes = (this.#bytes ?? utf8Length(before)) + utf8Length(text);
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
const isStreamLike = (output: unknown): boolean =>
  isObject(output) && (isAsyncIterable(output) || hasLater(output));
