// Hot path: every successful REST response is encoded here.
import type { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { LinkBase } from '../../operations/deprecation.ts';
import type { Operation } from '../../operations/operation.ts';
import { statusHasBody } from '../../operations/operationOutput.ts';
import type { Limits } from '../../calls/limits.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import type { ResponseControls } from '../../http/outgoingResponse.ts';
import { byteBody, byteType, mediaBody } from './byteContent.ts';
import { formDecode, percentDecode } from './convertText.ts';
import type { RawInput } from './readInput.ts';
import { eventStreamHeaders } from './restEvents.ts';

/**
 * Writes an output into the response on which the procedure has set status and headers.
 * @param mediaType the negotiated media type, if the operation has several
 * @throws {TypeError} for a status that the metadata does not list, and for an output that is not bytes; a body that is
 *   a stream is then in the response, to be discarded
 * @throws {LimitError} `response-bytes`
 */
export function writeSuccess(
  operation: Operation,
  raw: RawInput,
  value: unknown,
  mediaType: string | undefined,
  response: OutgoingResponse,
  { links, limits }: { readonly links: LinkBase; readonly limits: Limits },
): void {
  const { computedHeaders, output, procedure, rest } = operation;
  if (output.kind === 'bytes') response.body = byteBody(procedure.path, value, output.contentType);
  // Nearly every response has the default status.
  const hasDefault = response.status === undefined && value !== undefined;
  const status = hasDefault ? (operation.statuses[0] ?? 200) : successStatusOf(operation, value, response);
  for (const [name, header] of computedHeaders) {
    const text = header.value(value, { basePath: links.rest });
    // Also numbers: the metadata's types do not know the output, so they cannot require strings.
    if (text !== undefined) response.header(name, String(text));
  }
  const { headers } = response;
  const hasOwnType = headers.some(([name]) => name === 'content-type');
  if (response.nextCursor !== undefined && rest.pagination) {
    const link = nextLink(operation, raw, rest.pagination.cursor, String(response.nextCursor));
    headers.push(['link', `<${links.rest}${link}>; rel="next"`]);
  }
  response.status = status;
  response.sharedHeaders = operation.successHeaders;
  // Nearly every status is 200 or 201.
  if (status > 201 && !statusHasBody(status)) return response.removeBody();
  if (output.kind === 'json') {
    if (!hasOwnType) response.sharedHeaders = operation.jsonHeaders;
    response.body = boundedJson(value, limits.maxResponseBytes);
    return;
  }
  if (output.kind === 'events') {
    headers.push(...eventStreamHeaders.filter(([name]) => !hasOwnType || name !== 'content-type'));
    return;
  }
  const isMedia = output.kind === 'media';
  const contentType = isMedia ? (mediaType ?? '') : byteType(value, output.contentType);
  if (isMedia) {
    const writer = output.types.get(contentType) ?? true;
    response.body = mediaBody(procedure.path, value, contentType, writer, limits.maxResponseBytes);
  }
  if (!hasOwnType) headers.push(['content-type', contentType]);
}

/**
 * Returns the status of a successful response.
 * @throws {TypeError} for a status that the metadata does not list
 */
function successStatusOf(
  { procedure, statuses }: Operation,
  output: unknown,
  { status: ownStatus }: ResponseControls,
): number {
  const defaultStatus = statuses[0] ?? 200;
  // JSON has no `undefined`: a status with a body would have an empty one, which is no JSON.
  const isEmpty = output === undefined && statuses.includes(204) && statusHasBody(ownStatus ?? 200);
  const status = isEmpty ? 204 : (ownStatus ?? defaultStatus);
  if (status === defaultStatus || statuses.includes(status)) return status;
  throw new TypeError(
    `Procedure "${procedure.path}" set the status ${status}, which its metadata does not list. Add it to successStatus.`,
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
