import { parseCookie } from 'cookie';
import type { HttpRequest } from '../http/request.ts';
import type { ResponseControls } from '../http/response.ts';
import type { ContextOptions } from '../procedures/contextOptions.ts';

/** A `createContext` that was written for one of tRPC's adapters. */
export type ForeignCreateContext = (options: object, hono: object) => unknown;

/**
 * Returns the options of the gateway's `createContext` with those of tRPC's adapters: `req`, `res` and `resHeaders`, and
 * `headers`, which code bases on Next pass on. Each has what both Node and the fetch API have, since which adapter the
 * function was written for is not known. The second argument is that of `@hono/trpc-server`, the context of Hono.
 */
export function foreignContextArguments(options: ContextOptions<unknown>): Parameters<ForeignCreateContext> {
  const { request, response } = options;
  const headers = foreignHeaders(request);
  const req = foreignRequest(request, headers);
  const first = {
    ...options,
    info: options.info ?? noInfo,
    headers,
    req,
    res: foreignResponse(response),
    resHeaders: responseHeaders(response),
  };
  return [first, honoContext(req, response)];
}

/** The `info` of a call over REST or MCP, of which tRPC has none. */
const noInfo = {
  accept: null,
  calls: [],
  connectionParams: null,
  isBatchCall: false,
  type: 'unknown',
  url: null,
};

/** Returns `Headers` whose values are properties too, as in `req.headers.authorization`. */
function foreignHeaders(request: HttpRequest): Headers {
  const headers = new Headers([...request.headers()]);
  for (const [name, value] of headers) {
    if (name in headers) continue;
    Object.defineProperty(headers, name, { value, enumerable: true });
  }
  return headers;
}

function foreignRequest(request: HttpRequest, headers: Headers) {
  const { method, path, query } = request;
  const cookies = parseCookie(request.header('cookie') ?? '');
  const find = (name: string) => {
    const value = cookies[name];
    return value === undefined ? undefined : { name, value };
  };
  const remoteAddress = request.remoteAddress();
  return {
    method,
    url: `http://${request.header('host') ?? 'localhost'}${path}${query === '' ? '' : `?${query}`}`,
    headers,
    // As of Next: a record in pages, `get` in the app router.
    cookies: Object.defineProperty(cookies, 'get', { value: find }),
    query: Object.fromEntries(new URLSearchParams(query)),
    ip: remoteAddress,
    socket: { remoteAddress },
    get signal() {
      return request.signal;
    },
  };
}

/** The parts of Hono's context that need no other middleware. Each call has variables of its own. */
function honoContext(req: ReturnType<typeof foreignRequest>, response: ResponseControls): object {
  const { headers, method, query, url } = req;
  const variables = new Map<string, unknown>();
  return {
    env: process.env,
    get: (name: string) => variables.get(name),
    set: (name: string, value: unknown) => void variables.set(name, value),
    header(name: string, value: string, { append = false } = {}) {
      response[append ? 'append' : 'header'](name, value);
    },
    req: {
      method,
      url,
      path: new URL(url).pathname,
      header: (name?: string) =>
        name === undefined ? Object.fromEntries(headers) : (headers.get(name) ?? undefined),
      query: (name?: string) => (name === undefined ? query : query[name]),
      get raw() {
        return new Request(url, { method, headers, signal: req.signal });
      },
    },
  };
}

/** What `createContext` sets on a response of Node: its headers. */
function foreignResponse(response: ResponseControls): object {
  const valuesOf = (name: string) =>
    response.headers.filter(([other]) => other === name.toLowerCase()).map(([, value]) => value);
  return {
    getHeader(name: string) {
      const [first, ...others] = valuesOf(name);
      return others.length > 0 ? [first, ...others] : first;
    },
    setHeader(name: string, value: string | number | readonly string[]) {
      // Libraries for sessions set it, as in a route of their own.
      if (name.toLowerCase() === 'content-type') return this;
      const [first = '', ...others] = [value].flat().map(String);
      response.header(name, first);
      for (const other of others) response.append(name, other);
      return this;
    },
    appendHeader(name: string, value: string | readonly string[]) {
      for (const each of [value].flat()) response.append(name, each);
      return this;
    },
  };
}

/** Returns the `resHeaders` of tRPC's fetch adapter. */
function responseHeaders(response: ResponseControls): Headers {
  const headers = new Headers();
  return Object.assign(headers, {
    append(name: string, value: string) {
      Headers.prototype.append.call(headers, name, value);
      response.append(name, value);
    },
    set(name: string, value: string) {
      Headers.prototype.set.call(headers, name, value);
      response.header(name, value);
    },
  });
}
