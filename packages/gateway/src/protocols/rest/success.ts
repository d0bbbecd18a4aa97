import { Answer } from '../../http/answer.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import type { HttpResponse, Header } from '../../http/response.ts';
import type { Reply } from '../../procedures/reply.ts';
import { computedHeaders } from '../../openapi/computedHeaders.ts';
import { deprecationHeaders, type LinkBase } from '../../openapi/deprecationHeaders.ts';
import { formFields } from './formFields.ts';
import type { RawInput } from './readInput.ts';
import type { Route } from '../../openapi/route.ts';

/**
 * Answers a route's output.
 * @param stream its body, where that is not the output as JSON
 */
export type Success = (output: unknown, reply: Reply, raw: RawInput, stream?: Content) => Answer;

/** How a route's outputs are answered: what its metadata says, derived once. */
export function createSuccess(route: Route, base: LinkBase, maxResponseBytes: number): Success {
  const [defaultStatus = 200] = route.statuses;
  const fixed: readonly Header[] = deprecationHeaders(route.rest.deprecation, base);
  const fixedOfJson: readonly Header[] = [...fixed, json];
  const computed = computedHeaders(route.rest);

  return (output, reply, raw, stream) => {
    const isEmpty = output === undefined && route.statuses.includes(204);
    const status = reply.status ?? (isEmpty ? 204 : defaultStatus);
    if (!route.statuses.includes(status)) {
      throw new Error(
        `${route.procedurePath} answered ${status}, which its metadata's successStatus does not list.`,
      );
    }
    const hasBody = status !== 204 && (status < 300 || status > 399);
    for (const [name, { value }] of computed) {
      const text = value(output, { basePath: base.rest });
      // A number is as good: the output's type is not known where the metadata is written.
      if (text !== undefined) reply.header(name, String(text));
    }
    const hasOwnType = reply.headers.length > 0 && reply.headers.some(([name]) => name === 'content-type');
    const isJson = stream === undefined && hasBody && !hasOwnType;
    const headers: Header[] = [];
    for (const header of (hasBody && stream?.headers) || []) {
      if (!(hasOwnType && header[0] === 'content-type')) headers.push(header);
    }
    if (reply.nextCursor !== undefined && route.rest.pagination) {
      headers.push([
        'link',
        `<${base.rest}${nextPage(route, route.rest.pagination.cursor, reply.nextCursor, raw)}>; rel="next"`,
      ]);
    }
    for (const header of reply.headers) headers.push(header);
    const body = hasBody ? (stream ? stream.body : boundedJson(output, maxResponseBytes)) : undefined;
    return new Answer(status, headers, body, isJson ? fixedOfJson : fixed);
  };
}

/** A body, and what says what it is. */
export interface Content {
  readonly headers: readonly Header[];
  readonly body: HttpResponse['body'];
}

const json: Header = ['content-type', 'application/json'];

/** The same list from a cursor on: known parameters are kept, and written anew, since a header goes out as it is. */
function nextPage(route: Route, cursor: string, next: string | number | bigint, raw: RawInput): string {
  let page = '';
  let index = 0;
  for (const segment of route.template) {
    page += `/${encodeURIComponent(typeof segment === 'string' ? segment : (raw.parameters[index++] ?? ''))}`;
  }
  let separator = '?';
  const add = (name: string, value: string) => {
    page += `${separator}${formEncode(name)}=${formEncode(value)}`;
    separator = '&';
  };
  for (const [name, values] of formFields(raw.query, (field) => route.queryParameters.has(field))) {
    if (name !== cursor) for (const value of values) add(name, value ?? '');
  }
  add(cursor, String(next));
  return page;
}

/** As `application/x-www-form-urlencoded` has it (WHATWG URL §5.2). Nearly all is itself there, and `URLSearchParams` takes 0.4 µs. */
const formEncode = (text: string) =>
  /^[\w*.-]*$/.test(text) ? text : new URLSearchParams([[text, '']]).toString().slice(0, -1);
