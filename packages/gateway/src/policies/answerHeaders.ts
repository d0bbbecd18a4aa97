import { Answer } from '../http/answer.ts';
import type { HttpResponse, Header } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { Cors } from './cors.ts';

/** What an answer's headers hang on besides the answer. */
interface Answered {
  /** The request's id. */
  readonly id: string;
  readonly face: Exchange['face'];
  readonly method: string;
  /** The `Origin` header, where pages of other origins may call. */
  readonly pageOrigin: string | undefined;
}

/** Gives an answer the headers that every answer has. */
export type AnswerHeaders = (response: HttpResponse, answered: Answered) => HttpResponse;

/**
 * The headers of an answer, with those that every answer has. Of those that OWASP's REST Security Cheat Sheet names for
 * answers in JSON: `nosniff`, and `no-store` on what a credential had a part in. Its others guard documents that a
 * browser shows (`frame-ancestors`, `X-Frame-Options`), which JSON that is not sniffed is none of, and cost a percent or
 * two of the throughput each; `Strict-Transport-Security` is for who ends TLS to say. A router's tRPC face that asks for
 * no credential answers as tRPC's adapters do, header by header.
 */
export function createAnswerHeaders(cors: Cors | undefined, isProtected: boolean): AnswerHeaders {
  const withNosniff = withHeader(['x-content-type-options', 'nosniff']);
  const withNoStore = withHeader(['cache-control', 'no-store']);

  return (response, { id, face, method, pageOrigin }) => {
    // What a wire answers is its own, a page's may be a constant.
    const answer = response instanceof Answer ? response : Answer.of(response);
    const { headers } = answer;
    let isCacheSaid = face === 'other' || !isProtected || answer.isAnonymous;
    let isSniffingSaid = face === 'rpc' && !isProtected;
    let isCorsSaid = cors === undefined;
    let allow: string | undefined;
    for (const header of headers) {
      // By their lengths first: this is done to every header of every answer.
      switch (header[0].length) {
        case 5:
          if (header[0].toLowerCase() === 'allow') [, allow] = header;
          break;
        case 13:
          if (header[0].toLowerCase() === 'cache-control') isCacheSaid = true;
          break;
        case 22:
          if (header[0].toLowerCase() === 'x-content-type-options') isSniffingSaid = true;
          break;
        case 27:
          if (header[0].toLowerCase() === 'access-control-allow-origin') isCorsSaid = true;
          break;
        default:
      }
    }
    if (!isSniffingSaid) answer.sharedHeaders = withNosniff(answer.sharedHeaders);
    if (!isCacheSaid) answer.sharedHeaders = withNoStore(answer.sharedHeaders);
    if (cors && !isCorsSaid) {
      for (const header of cors.headers(pageOrigin, method === 'OPTIONS' ? allow : undefined))
        headers.push(header);
    }
    headers.push(['x-request-id', id]);
    return answer;
  };
}

/** Adds a header to shared ones that do not say it: once for all responses that share those. */
function withHeader(header: Header): (shared: readonly Header[]) => readonly Header[] {
  const made = new WeakMap<readonly Header[], readonly Header[]>();
  return (shared) => {
    const known = made.get(shared);
    if (known) return known;
    const isSaid = shared.some(([name]) => name.toLowerCase() === header[0]);
    const all = isSaid ? shared : [...shared, header];
    made.set(shared, all);
    return all;
  };
}
