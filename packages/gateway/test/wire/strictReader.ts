const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\/[!"$-~]*) HTTP\/1\.1$/;
const headerLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[\t ]*$/;
/** uWebSockets.js ends the head at an empty name, and reads a non-ASCII byte at an end of a value as whitespace. */
const hiddenByUws = /^:|:[\t ]*[\x80-\xff]|[\x80-\xff][\t ]*$/;
/** Node's parser skips bare CR and LF before a request, reads several spaces as one, and serves HTTP/1.0. */
const hiddenByNode = /^[\r\n]|^\S+ {2}|^\S+ \S+ {2}| HTTP\/1\.0$/;
const hostValue = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const maxTargetLength = 16_384;

type Headers = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the bytes of a connection by RFC 9112 and the gateway's limits, without its code. On uWebSockets.js, a chunked
 * request is the last one, and an empty line before a request is invalid.
 * @returns `requests`: method and target of each, up to the first invalid one or the one that closes the connection.
 *   `isHidden`: whether the adapter's parser hides something of the bytes from the gateway (docs/adapters.md)
 */
export function readStrictly(bytes: string, isUws: boolean) {
  const requests: string[] = [];
  let rest = bytes;
  for (;;) {
    // RFC 9112 §2.2: an empty line before a request should be ignored. The parser of uWebSockets.js does not ignore it.
    if (!isUws) rest = rest.replace(/^(?:\r\n)+/, '');
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n');
    const isHidden = isUws ? lines.some((line) => hiddenByUws.test(line)) : hiddenByNode.test(first);
    const [, method, target = ''] = requestLine.exec(first) ?? [];
    const headers = readHeaders(lines);
    if (method === undefined || isHidden || headers === undefined || target.length > maxTargetLength) {
      return { requests, isHidden };
    }
    const length = bodyLength(headers);
    if (length === undefined || !isServed(headers)) return { requests, isHidden };
    // The adapter drops an empty query.
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

/** The end of a chunked body with its trailers (RFC 9112 §7.1); `undefined` if incomplete or malformed. */
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

/** Whether `Host` and `Expect` are valid. */
function isServed(headers: Headers): boolean {
  const hosts = headers.get('host') ?? [];
  const expected = headers.get('expect') ?? [];
  return (
    hosts.length === 1 &&
    hosts.every((host) => hostValue.test(host)) &&
    expected.every((value) => value === '' || /^100-continue$/i.test(value))
  );
}

/** Returns the length of the body, or `undefined` if its framing is invalid. */
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
