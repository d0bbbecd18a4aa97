// Hot path: every successful REST response is encoded here.
import { eventStreamHeaders } from '../../http/eventSource.ts';
import { requireSync } from '../../http/hooks.ts';
import type { ResponseControls } from '../../http/response.ts';
import type { LinkBase } from '../../operations/deprecation.ts';
import type { Operation } from '../../operations/operation.ts';
import { statusHasBody } from '../../operations/operationOutput.ts';
import type { Limits } from '../../calls/limits.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { byteBody } from '../byteBody.ts';
import type { Paths } from '../paths.ts';
import { queryPairs } from './textParameters.ts';

interface SuccessOptions {
  readonly links: LinkBase;
  readonly paths: Paths;
  readonly limits: Limits;
}

/**
 * Writes an output into the response on which the procedure has set status and headers.
 * @param mediaType the negotiated media type, if the operation has several
 * @throws {TypeError} for a status that the metadata does not list, and for an output that is not bytes; a body that is
 *   a stream is then in the response, to be discarded
 * @throws {LimitError} `response-bytes`
 */
export function writeSuccess(
  operation: Operation,
  { request, response }: RequestContext,
  value: unknown,
  mediaType: string | undefined,
  { limits, links, paths }: SuccessOptions,
): void {
  const { computedHeaders, output, procedure, rest } = operation;
  if (output.kind === 'bytes') response.body = byteBody(procedure.path, value, output.contentType);
  // Nearly every response has the default status.
  const hasDefault = response.status === undefined && value !== undefined;
  const status = hasDefault ? (operation.statuses[0] ?? 200) : successStatus(operation, value, response);
  for (const [name, header] of computedHeaders) {
    const text = requireSync(header.value(value, { basePath: links.rest }), 'value of headers.', name);
    // Also numbers: the metadata's types do not know the output, so they cannot require strings.
    if (text !== undefined) response.header(name, String(text));
  }
  const { headers } = response;
  const hasOwnType = headers.some(([name]) => name === 'content-type');
  if (response.nextCursor !== undefined && rest.pagination) {
    const path = request.path.slice(paths.restBasePath.length);
    const link = nextLink(path, request.query, rest.pagination.cursor, String(response.nextCursor));
    headers.push(['link', `<${links.rest}${link}>; rel="next"`]);
  }
  response.status = status;
  response.sharedHeaders = operation.deprecation;
  // Nearly every status is 200 or 201.
  if (status > 201 && !statusHasBody(status)) return response.removeBody();
  if (output.kind === 'json') {
    if (!hasOwnType) response.sharedHeaders = operation.jsonHeaders;
    response.body = boundedJson(value, limits.maxResponseSize);
    return;
  }
  if (output.kind === 'events') {
    headers.push(...eventStreamHeaders.filter(([name]) => !hasOwnType || name !== 'content-type'));
    return;
  }
  let contentType: string;
  if (output.kind === 'bytes') {
    contentType = value instanceof Blob && value.type !== '' ? value.type : output.contentType;
  } else {
    contentType = mediaType ?? '';
    const writer = output.types.get(contentType) ?? true;
    const written: unknown =
      writer === true
        ? boundedJson(value, limits.maxResponseSize)
        : requireSync(writer(value), 'produces of ', contentType);
    response.body = typeof written === 'string' ? written : byteBody(procedure.path, written, contentType);
  }
  if (!hasOwnType) headers.push(['content-type', contentType]);
}

/** Returns the status of a success. @throws {TypeError} for one that the metadata does not list */
function successStatus(
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

/** Returns the path and query of the next page (RFC 8288): those of the request, with the cursor replaced. */
function nextLink(path: string, query: string, cursor: string, next: string): string {
  const others = queryPairs(query, (name) => name !== '' && name !== cursor);
  others.push(`${encode(cursor)}=${encode(next)}`);
  const link = `${path}?${others.join('&')}`;
  return unsafeInLink.test(link) ? link.replace(new RegExp(unsafeInLink, 'g'), encodeURIComponent) : link;
}

/** Encodes a name or a value. Most need no encoding, and this check takes a tenth of its time. */
const encode = (text: string) => (/^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text));

/** Matches what RFC 3986 does not allow in a path or a query, such as the bracket that ends a link. */
const unsafeInLink = /[^\w.~!$&'()*+,;=:@%/?-]+/;
