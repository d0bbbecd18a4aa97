// Hot path: every successful REST response is encoded here.
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { Header, HttpResponse } from '../../http/response.ts';
import type { LinkBase } from '../../openapi/deprecationHeaders.ts';
import type { Operation } from '../../openapi/operation.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import { parseFunction, type Parser } from '../../procedures/parseFunction.ts';
import type { Reply } from '../../procedures/reply.ts';
import type { RawInput } from './readInput.ts';

/** A body that is not the output as JSON, and the headers that describe it. */
export interface Content {
  readonly headers: readonly Header[];
  readonly body: HttpResponse['body'];
}

/** An operation that is served, with what all its responses share. */
export class RestOperation {
  readonly operation: Operation;
  /** Checks an event of a subscription. */
  readonly parseEvent: ((event: unknown) => unknown) | undefined;
  readonly #links: LinkBase;
  readonly #maxResponseBytes: number;
  readonly #jsonHeaders: readonly Header[];
  /** The segments of the path, encoded; `undefined` for a parameter. */
  readonly #pathSegments: readonly (string | undefined)[];

  constructor(operation: Operation, links: LinkBase, maxResponseBytes: number) {
    const { output } = operation;
    this.operation = operation;
    this.parseEvent = output.kind === 'events' ? parseFunction(output.schema as Parser) : undefined;
    this.#links = links;
    this.#maxResponseBytes = maxResponseBytes;
    this.#jsonHeaders = [...operation.deprecation, ['content-type', 'application/json']];
    this.#pathSegments = operation.template.map((segment) =>
      typeof segment === 'string' ? `/${encodeURIComponent(segment)}` : undefined,
    );
  }

  /**
   * Encodes an output.
   * @throws {TypeError} for a status that the metadata does not list
   * @throws {LimitError} `response-bytes`
   */
  successResponse(output: unknown, reply: Reply, raw: RawInput, content?: Content): ResponseDraft {
    const { computedHeaders, deprecation, rest } = this.operation;
    const status = this.#status(output, reply);
    const hasBody = status !== 204 && (status < 300 || status > 399);
    for (const [name, { value }] of computedHeaders) {
      const text = value(output, { basePath: this.#links.rest });
      // A number is as good: the output's type is not known where the metadata is written.
      if (text !== undefined) reply.header(name, String(text));
    }
    const hasOwnType = reply.headers.length > 0 && reply.headers.some(([name]) => name === 'content-type');
    const headers: Header[] = [];
    if (content && hasBody) {
      for (const header of content.headers) {
        if (!hasOwnType || header[0] !== 'content-type') headers.push(header);
      }
    }
    if (reply.nextCursor !== undefined && rest.pagination) {
      headers.push(['link', this.#nextLink(rest.pagination.cursor, reply.nextCursor, raw)]);
    }
    for (const header of reply.headers) headers.push(header);
    if (!hasBody) return new ResponseDraft(status, headers, undefined, deprecation);
    if (content) return new ResponseDraft(status, headers, content.body, deprecation);
    const body = boundedJson(output, this.#maxResponseBytes);
    return new ResponseDraft(status, headers, body, hasOwnType ? deprecation : this.#jsonHeaders);
  }

  #status(output: unknown, reply: Reply): number {
    const { procedure, statuses } = this.operation;
    const [defaultStatus = 200] = statuses;
    const isEmpty = output === undefined && statuses.includes(204);
    const status = reply.status ?? (isEmpty ? 204 : defaultStatus);
    if (status === defaultStatus || statuses.includes(status)) return status;
    throw new TypeError(
      `Procedure "${procedure.path}" set the status ${status}, which its metadata does not list. Add it to successStatus.`,
    );
  }

  /** The same list from a cursor on (RFC 8288). Known parameters are kept and encoded again: a header is sent as it is. */
  #nextLink(cursor: string, next: string | number | bigint, raw: RawInput): string {
    let path = '';
    let index = 0;
    for (const literal of this.#pathSegments) {
      path += literal ?? `/${encodeURIComponent(raw.parameters[index++] ?? '')}`;
    }
    let query = '';
    for (const [name, values] of raw.queryFields) {
      if (name === cursor) continue;
      for (const value of values) query += `${formEncode(name)}=${formEncode(value ?? '')}&`;
    }
    query += `${formEncode(cursor)}=${formEncode(String(next))}`;
    return `<${this.#links.rest}${path}?${query}>; rel="next"`;
  }
}

/** As `application/x-www-form-urlencoded` (WHATWG URL §5.2). Most texts need no encoding, and `URLSearchParams` takes 0.4 µs. */
const formEncode = (text: string) =>
  /^[\w*.-]*$/.test(text) ? text : new URLSearchParams([[text, '']]).toString().slice(0, -1);
