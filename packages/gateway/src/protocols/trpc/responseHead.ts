import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { Header } from '../../http/response.ts';
import { retryAfterOf } from '../../procedures/limitError.ts';
import type { Reply } from '../../procedures/reply.ts';
import { bodiless, metaHeaders } from '../../procedures/responseMeta.ts';
import type { RpcOptions } from './options.ts';
import type { TrpcRequest } from './request.ts';

export interface ErrorItem {
  readonly error: object;
}

/** One of the results of a response, as `responseMeta` receives it. */
export type Item = ErrorItem | { readonly result: { readonly data: unknown } };

type ResponseMeta = RpcOptions<AnyTRPCRouter>['responseMeta'];

export const jsonType: Header = ['content-type', 'application/json'];
const textType: Header = ['content-type', 'text/plain;charset=UTF-8'];
const vary: Header = ['vary', 'trpc-accept, accept'];
export const jsonHeaders: readonly Header[] = [jsonType, vary];
/** Of a response that has none of tRPC's formats: an error of the whole request. */
const textHeaders: readonly Header[] = [textType, vary];
const none: readonly Header[] = [];

/** The status and the headers of a response, as tRPC (@trpc/server 11.25), `responseMeta` and `reply` make them. */
export class ResponseHead {
  /** The headers of the response's format. */
  format = textHeaders;
  /** `Allow`, after a wrong method. */
  allow: string | undefined = undefined;
  readonly #request: TrpcRequest;
  readonly #reply: Reply;
  readonly #responseMeta: ResponseMeta;
  #status = 200;
  #errors: readonly TRPCError[] = [];
  /** What `responseMeta` adds to; a second time if the response cannot be written. */
  #headers: Headers | undefined = undefined;
  /** The headers of `reply`, where later ones do not count. */
  #replyHeaders: readonly Header[] | undefined = undefined;

  constructor(request: TrpcRequest, reply: Reply, responseMeta: ResponseMeta) {
    this.#request = request;
    this.#reply = reply;
    this.#responseMeta = responseMeta;
  }

  /** Leaves out what procedures set from now on. */
  keepReplyHeaders(): void {
    this.#replyHeaders = replyHeaders(this.#reply).slice();
  }

  /**
   * Decides on the status and the headers.
   * @param items the results; `undefined` before they are known
   * @throws what `responseMeta` throws
   */
  decide(
    status: number,
    items: readonly Item[] | undefined,
    errors: readonly TRPCError[],
    info: TRPCRequestInfo | undefined,
    ctx: unknown,
  ): void {
    const isSuccess = items !== undefined && errors.length === 0 && !this.#request.isBatch;
    this.#status = (isSuccess ? replyStatus(this.#reply) : undefined) ?? status;
    this.#errors = errors;
    if (this.#responseMeta === undefined) return;
    const headers = (this.#headers ??= this.#firstHeaders());
    const { paths, procedures } = this.#request;
    const meta = this.#responseMeta({
      ctx: ctx as never,
      info,
      paths: info && paths,
      type: (info && procedures.find((procedure) => procedure)?.type) ?? 'unknown',
      data: (items ?? []) as never,
      errors: errors as TRPCError[],
      eagerGeneration: items === undefined,
      // tRPC takes `undefined` too.
    }) as ReturnType<NonNullable<ResponseMeta>> | undefined;
    for (const [name, value, isReplacing] of metaHeaders(meta ?? {})) {
      if (isReplacing) headers.set(name, value);
      else headers.append(name, value);
    }
    this.#status = meta?.status || this.#status;
  }

  /** @throws as tRPC's `Response` does: for a status that is invalid, or of responses without a body */
  answer(body: ResponseDraft['body']): ResponseDraft {
    const status = this.#status;
    if (!(status >= 200 && status <= 599) || bodiless.has(status)) void new Response('', { status });
    const headers = this.#headers
      ? [...this.#headers]
      : (this.#replyHeaders ?? replyHeaders(this.#reply)).slice();
    if (this.#headers?.has('content-type') === false) headers.push(textType);
    if (!this.#headers && this.allow !== undefined) headers.push(['allow', this.allow]);
    const retryAfter = longestWait(this.#errors);
    if (retryAfter !== undefined) headers.push(['retry-after', String(retryAfter)]);
    return new ResponseDraft(status, headers, body, this.#headers ? none : this.format);
  }

  #firstHeaders(): Headers {
    const headers = new Headers((this.format === textHeaders ? [vary] : this.format) as [string, string][]);
    if (this.allow !== undefined) headers.set('allow', this.allow);
    for (const [name, value] of this.#replyHeaders ?? replyHeaders(this.#reply)) headers.append(name, value);
    return headers;
  }
}

/** The headers that procedures set. The body is always tRPC's, whatever type the output has over REST. */
const replyHeaders = ({ headers }: Reply): readonly Header[] =>
  headers.length === 0 ? headers : headers.filter(([name]) => name !== 'content-type');

/** The status that a procedure set; `undefined` where it could not carry the envelope that clients read: a redirect, 204. */
const replyStatus = ({ status }: Reply): number | undefined =>
  status !== undefined && status >= 200 && status <= 299 && !bodiless.has(status) ? status : undefined;

/** After how many seconds a client may retry, the longest of the errors. */
function longestWait(errors: readonly TRPCError[]): number | undefined {
  let longest: number | undefined;
  for (const error of errors) {
    const seconds = retryAfterOf(error);
    if (seconds !== undefined && !(seconds <= (longest ?? -1))) longest = seconds;
  }
  return longest;
}
