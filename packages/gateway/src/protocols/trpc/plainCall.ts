// Hot path: every tRPC call over HTTP is looked at here. A URL, its search parameters and a `Headers` cost more than
// the call they carry.
import { someHeader, type HttpRequest } from '../../http/request.ts';

/** A tRPC request as most are: a call or a batch of calls, as JSON, that is answered by JSON. */
export interface PlainCall {
  readonly paths: readonly string[];
  readonly isBatch: boolean;
  /** The input as JSON; `undefined` where a body holds it, or nothing does. */
  readonly input: string | undefined;
}

// Names that are themselves in a URL, however it is parsed.
const plainPath = /^\w[\w.,-]*$/;

/**
 * Reads a request as `resolveResponse` (@trpc/server 11.25) reads it; `undefined` where it has anything unusual, of which
 * nothing is decided here.
 * @param isUnusual whether a header is. Default: what asks for JSON lines. All lines count: `Headers` joins those of one name
 * @param basePath which the request's path starts with; nothing in it that a URL would write otherwise
 */
export function plainCall(
  request: HttpRequest,
  basePath: string,
  isUnusual = asksForLines,
): PlainCall | undefined {
  const { method, query } = request;
  if (method !== 'GET' && method !== 'POST') return undefined;
  const path = request.path.slice(basePath.length + 1);
  if (!plainPath.test(path) || someHeader(request, isUnusual) || !sendsJson(request, method))
    return undefined;

  let input: string | undefined;
  let batch: string | undefined;
  for (let at = 0; at < query.length;) {
    const found = query.indexOf('&', at);
    const end = found === -1 ? query.length : found;
    const equals = query.indexOf('=', at);
    const hasValue = equals !== -1 && equals < end;
    const name = query.slice(at, hasValue ? equals : end);
    const value = hasValue ? query.slice(equals + 1, end) : '';
    if (name === 'input') input ??= value;
    else if (name === 'batch') batch ??= value;
    // A name may be encoded, and be one of those then.
    else if (name === 'connectionParams' || name.includes('%')) return undefined;
    at = end + 1;
  }
  if (batch?.includes('%')) return undefined;
  const isBatch = batch === '1';
  if (method === 'POST') input = undefined;
  if (input !== undefined) {
    try {
      input = decodeURIComponent(input.includes('+') ? input.replaceAll('+', ' ') : input);
    } catch {
      return undefined;
    }
  }
  return { paths: isBatch ? path.split(',') : [path], isBatch, input };
}

/** Whether it is JSON that is sent, to a host that makes a URL. */
function sendsJson(request: HttpRequest, method: string): boolean {
  const type = request.header('content-type');
  if (type === undefined ? method === 'POST' : type !== 'application/json' && !isJson(type)) return false;
  return isGoodHost(request.header('host') ?? 'localhost');
}

/** By their lengths first: a string from outside is not internalized, and comparing it costs more. */
const asksForLines = (name: string, value: string) =>
  (name.length === 11 && name === 'trpc-accept') ||
  (name.length === 6 && name === 'accept' && value.includes('jsonl'));

const isJson = (contentType: string) =>
  contentType.toLowerCase().split(';', 1)[0]?.trim() === 'application/json';

/** The last `Host` that made a URL: nearly all requests have the same. */
let goodHost = '';

function isGoodHost(host: string): boolean {
  if (host === goodHost) return true;
  if (host.includes('@') || !URL.canParse(`http://${host}`)) return false;
  goodHost = host;
  return true;
}
