/** What a reader that follows RFC 9112 to the letter, and our limits, finds in bytes. */
export interface Reading {
  /** The requests, as method and target, up to what is no request or ends the connection. */
  readonly requests: readonly string[];
  /** Whether there is something in them that the adapter's parser hides from us: docs/edge.md. */
  readonly isHidden: boolean;
}

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\/[!"$-~]*) HTTP\/1\.1$/;
const headerLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[\t ]*$/;
/** An empty name ends the head for the parser; a byte beyond ASCII at an end of a value is a blank to it. */
const hidden = /^:|:[\t ]*[\x80-\xff]|[\x80-\xff][\t ]*$/;
/** Node's parser skips bare CR and LF in front of a request, and takes several blanks for one. It answers HTTP/1.0. */
const hiddenByNode = /^[\r\n]|^\S+ {2}|^\S+ \S+ {2}| HTTP\/1\.0$/;
const hostValue = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const limit = 16_384;

type Headers = ReadonlyMap<string, readonly string[]>;

/**
 * Reads what comes on a connection, written apart from the host, to be compared with it.
 * @param isUws as the adapter on uWebSockets.js reads: a chunked request is the last, and no line may be in front of one
 */
export function readStrictly(bytes: string, isUws: boolean): Reading {
  const requests: string[] = [];
  let rest = bytes;
  for (;;) {
    // RFC 9112 §2.2: an empty line in front should be ignored. The parser of uWebSockets.js does not.
    if (!isUws) rest = rest.replace(/^(?:\r\n)+/, '');
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n');
    const isHidden = isUws ? lines.some((line) => hidden.test(line)) : hiddenByNode.test(first);
    const [, method, target = ''] = requestLine.exec(first) ?? [];
    const headers = readHeaders(lines);
    if (method === undefined || isHidden || headers === undefined || target.length > limit) {
      return { requests, isHidden };
    }
    const length = bodyLength(headers);
    if (length === undefined || !isServed(headers)) return { requests, isHidden };
    // A query that is empty is none to the host.
    requests.push(`${method} ${target.replace(/^([^?]*)\?$/, '$1')}`);
    const closes = (headers.get('connection') ?? []).some((value) =>
      /(?:^|,)\s*close\s*(?:,|$)/i.test(value),
    );
    if (closes || (length === 'chunked' && isUws)) return { requests, isHidden };
    const body = rest.slice(end + 4);
    const bodyEnd = length === 'chunked' ? chunkedEnd(body) : length;
    if (bodyEnd === undefined || body.length < bodyEnd) return { requests, isHidden };
    rest = body.slice(bodyEnd);
  }
}

const chunkSize = /^([0-9A-Fa-f]{1,16})(?:[\t ]*;[\t -~\x80-\xff]*)?\r\n/;

/** Where a chunked body ends, its trailers included (RFC 9112 §7.1); `undefined` where it does not, or is malformed. */
function chunkedEnd(body: string): number | undefined {
  let at = 0;
  for (;;) {
    const [line, size = ''] = chunkSize.exec(body.slice(at)) ?? [];
    if (line === undefined) return undefined;
    at += line.length;
    const length = Number.parseInt(size, 16);
    if (length === 0) break;
    if (body.slice(at + length, at + length + 2) !== '\r\n') return undefined;
    at += length + 2;
  }
  for (;;) {
    const end = body.indexOf('\r\n', at);
    if (end < 0) return undefined;
    if (end === at) return end + 2;
    if (!headerLine.test(body.slice(at, end))) return undefined;
    at = end + 2;
  }
}

function readHeaders(lines: readonly string[]): Headers | undefined {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) return undefined;
    const values = headers.get(name.toLowerCase()) ?? [];
    headers.set(name.toLowerCase(), [...values, value]);
  }
  return headers;
}

function isServed(headers: Headers): boolean {
  const hosts = headers.get('host') ?? [];
  const expected = headers.get('expect') ?? [];
  return (
    hosts.length === 1 &&
    hosts.every((host) => hostValue.test(host)) &&
    expected.every((value) => value === '' || /^100-continue$/i.test(value))
  );
}

/** `undefined` where the framing is refused. */
function bodyLength(headers: Headers): number | 'chunked' | undefined {
  const codings = headers.get('transfer-encoding');
  const lengths = headers.get('content-length');
  if (codings) {
    const isChunked = codings.length === 1 && codings.every((coding) => /^chunked$/i.test(coding));
    return lengths === undefined && isChunked ? 'chunked' : undefined;
  }
  if (lengths === undefined) return 0;
  return lengths.length === 1 && lengths.every((length) => /^\d{1,15}$/.test(length))
    ? Number(lengths[0])
    : undefined;
}
