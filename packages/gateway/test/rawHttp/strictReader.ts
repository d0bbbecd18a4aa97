/** What a reader that follows RFC 9112 to the letter, and our limits, finds in bytes. */
export interface Reading {
  /** The requests, as method and target, up to what is no request or ends the connection. */
  readonly requests: readonly string[];
  /** Whether there is something in them that uWebSockets.js hides from us: docs/edge.md. */
  readonly isHidden: boolean;
}

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\/[!"$-~]*) HTTP\/1\.1$/;
const headerLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[\t ]*$/;
/** An empty name ends the head for the parser; a byte beyond ASCII at an end of a value is a blank to it. */
const hidden = /^:|:[\t ]*[\x80-\xff]|[\x80-\xff][\t ]*$/;
const hostValue = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const limit = 16_384;

type Headers = ReadonlyMap<string, readonly string[]>;

/**
 * Reads what comes on a connection, written apart from the host, to be compared with it. A chunked request is the last,
 * as it is for the host.
 */
export function readStrictly(bytes: string): Reading {
  const requests: string[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n');
    const isHidden = lines.some((line) => hidden.test(line));
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
    if (length === 'chunked' || closes || rest.length < end + 4 + length) return { requests, isHidden };
    rest = rest.slice(end + 4 + length);
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
