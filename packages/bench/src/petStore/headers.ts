import { randomUUID } from 'node:crypto';

/** The headers of the deprecated operation for one animal (RFC 9745, RFC 8594, RFC 5829). */
export const deprecation = [
  ['deprecation', '@1795132800'],
  ['sunset', 'Thu, 05 Dec 2030 00:00:00 GMT'],
  ['link', '</v1/pets>; rel="successor-version"'],
  ['link', '</docs>; rel="deprecation"; type="text/html"'],
] as const;

export const challenge = 'Bearer realm="petstore", error="invalid_token"';

export const allow = 'GET, HEAD, OPTIONS';

/** The headers that tRPC's adapters add to every response. */
export const rpcVary = 'trpc-accept, accept';

/** The headers of a stream of events. */
export const eventHeaders = [
  ['cache-control', 'no-cache, no-transform'],
  ['content-type', 'text/event-stream'],
  ['vary', rpcVary],
  ['x-accel-buffering', 'no'],
  ['x-content-type-options', 'nosniff'],
] as const;

const acceptable = /^[A-Za-z0-9._~:+/=-]{1,128}$/;

/** The id of a request: the client's where it is fit to be repeated, else a new one. */
export const requestId = (header: string | undefined): string =>
  header && acceptable.test(header) ? header : randomUUID();
