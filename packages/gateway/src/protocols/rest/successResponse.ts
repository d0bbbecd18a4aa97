// Hot path: every successful REST response is encoded here.
import { ResponseDraft } from '../../http/responseDraft.ts';
import { percentDecode } from '../../http/percentDecode.ts';
import type { Header, HttpResponse } from '../../http/response.ts';
import type { LinkBase } from '../../operations/deprecation.ts';
import type { Operation } from '../../operations/operation.ts';
import { statusHasBody } from '../../operations/operationOutput.ts';
import type { Limits } from '../../calls/limits.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import type { ResponseControls } from '../../procedures/responseControls.ts';
import { formDecode } from './convertText.ts';
import type { RawInput } from './readInput.ts';

/** A response body other than the output as JSON, with its content headers. */
export interface ResponseContent {
  readonly headers: readonly Header[];
  readonly body: HttpResponse['body'];
}

/**
 * Encodes an output as a response.
 * @throws {TypeError} for a status that the metadata does not list
 * @throws {LimitError} `response-bytes`
 */
export function successResponse(
  operation: Operation,
  raw: RawInput,
  output: unknown,
  content: ResponseContent | undefined,
  controls: ResponseControls,
  { links, limits }: { readonly links: LinkBase; readonly limits: Limits },
): ResponseDraft {
  const { computedHeaders, jsonHeaders, rest, successHeaders } = operation;
  const status = successStatusOf(operation, output, controls);
  const hasBody = statusHasBody(status);
  for (const [name, { value }] of computedHeaders) {
    const text = value(output, { basePath: links.rest });
    // Also numbers: the metadata's types do not know the output, so they cannot require strings.
    if (text !== undefined) controls.header(name, String(text));
  }
  const hasOwnType =
    controls.headers.length > 0 && controls.headers.some(([name]) => name === 'content-type');
  const headers =
    content && hasBody ? content.headers.filter(([name]) => !hasOwnType || name !== 'content-type') : [];
  if (controls.nextCursor !== undefined && rest.pagination) {
    const link = nextLink(operation, raw, rest.pagination.cursor, String(controls.nextCursor));
    headers.push(['link', `<${links.rest}${link}>; rel="next"`]);
  }
  for (const header of controls.headers) headers.push(header);
  if (!hasBody) return new ResponseDraft(status, headers, undefined, successHeaders);
  if (content) return new ResponseDraft(status, headers, content.body, successHeaders);
  const body = boundedJson(output, limits.maxResponseBytes);
  return new ResponseDraft(status, headers, body, hasOwnType ? successHeaders : jsonHeaders);
}

/**
 * Returns the status of a successful response.
 * @throws {TypeError} for a status that the metadata does not list
 */
export function successStatusOf(
  { procedure, rest, statuses }: Operation,
  output: unknown,
  controls: ResponseControls,
): number {
  const [defaultStatus = 200] = statuses;
  // JSON has no `undefined`: a status with a body would have an empty one, which is no JSON.
  const isEmpty = output === undefined && statuses.includes(204) && statusHasBody(controls.status ?? 200);
  const status = isEmpty ? 204 : (controls.status ?? defaultStatus);
  if (status === defaultStatus || statuses.includes(status)) return status;
  throw new TypeError(
    `Procedure "${procedure.path}" set the status ${status}, which its metadata does not list. Add it to ${rest.responses ? 'responses' : 'successStatus'}.`,
  );
}

/**
 * Returns the path and query of the next page (RFC 8288): those of the request, with the cursor replaced. Known
 * parameters are decoded and encoded again, since their received form may not be safe in a header.
 */
function nextLink({ input, template }: Operation, raw: RawInput, cursor: string, next: string): string {
  let path = '';
  let index = 0;
  for (const segment of template) {
    const text = typeof segment === 'string' ? segment : (raw.parameters[index++] ?? '');
    const isRest = typeof segment !== 'string' && segment.isRest;
    path += `/${needsNoEncoding.test(text) ? text : isRest ? restEncode(text) : encodeURIComponent(text)}`;
  }
  let query = '';
  for (const [name, values] of raw.queryFields) {
    if (name === cursor) continue;
    const encode = input.query.get(name)?.style === 'comma' ? commaEncode : formEncode;
    for (const value of values) query += `${formEncode(name)}=${encode(value ?? '')}&`;
  }
  return `${path}?${query}${formEncode(cursor)}=${formEncode(next)}`;
}

/** Matches texts without characters to encode, to skip `URLSearchParams` for most texts: it takes 0.4 µs. */
const needsNoEncoding = /^[\w*.-]*$/;

/** Encodes a text as `application/x-www-form-urlencoded` (WHATWG URL §5.2). */
const formEncode = (text: string) =>
  needsNoEncoding.test(text) ? text : new URLSearchParams([[text, '']]).toString().slice(0, -1);

// The rest of a path and a comma-separated list are kept as received, to preserve their separators when encoded again.
const restEncode = (text: string) =>
  text
    .split('/')
    .map((segment) => encodeURIComponent(percentDecode(segment) ?? ''))
    .join('/');
const commaEncode = (text: string) =>
  text
    .split(',')
    .map((item) => formEncode(formDecode(item) ?? ''))
    .join(',');
