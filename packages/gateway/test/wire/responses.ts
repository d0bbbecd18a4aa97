/** One complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Reads all complete responses (to HEAD: `isHead`). `rest` follows: an incomplete one, or other bytes. */
export function readResponses(
  received: string,
  isHead: boolean,
): { readonly responses: RawResponse[]; readonly rest: string } {
  const responses: RawResponse[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    if (end < 0 || Number.isNaN(status)) return { responses, rest };
    const headers = new Map(
      lines.map((header) => {
        const colon = header.indexOf(':');
        return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()] as const;
      }),
    );
    const bodied = rest.slice(end + 4);
    const length = isHead && !bodied.startsWith('<h1>') ? 0 : lengthOf(status, headers, bodied);
    if (length === undefined) return { responses, rest };
    if (status !== 100) responses.push({ status, headers, body: bodied.slice(0, length) });
    rest = bodied.slice(length);
  }
}

/** Returns the length of the body at the start of `bodied`, or `undefined` if it is incomplete. */
function lengthOf(status: number, headers: ReadonlyMap<string, string>, bodied: string): number | undefined {
  if (status === 100 || status === 204) return 0;
  if (headers.has('transfer-encoding')) {
    const end = bodied.indexOf('0\r\n\r\n');
    return end < 0 ? undefined : end + 5;
  }
  // Errors of the parser have no Content-Length: they end with the connection.
  const length = Number(headers.get('content-length') ?? bodied.length);
  return length <= bodied.length ? length : undefined;
}

/** Whether uWebSockets.js sent the response before it called a handler. These errors are HTML. */
export const isParserError = ({ status, body }: RawResponse): boolean =>
  [400, 431, 505].includes(status) && body.startsWith('<h1>');

export function isJson({ body }: RawResponse): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return body === ''; // HEAD, 204
  }
}
