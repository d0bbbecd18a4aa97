import type { Attributes } from '@opentelemetry/api';
import type { ObservedRequest } from '@petstore/gateway';

/** Other methods are `_OTHER`: clients choose them, and they are labels of metrics. */
const knownMethods: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
);

export const methodOf = (method: string): string => (knownMethods.has(method) ? method : '_OTHER');

const defaultPorts = { http: 80, https: 443 };

/** What a request and its calls have in common, from its `Host` (RFC 9110 §7.2) and its connection. */
export function connectionAttributes({ clientAddress, request, scheme }: ObservedRequest): Attributes {
  const host = request.header('host') ?? '';
  const [, name = '', port] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  const peer = request.remoteAddress();
  return {
    ...(name !== '' && { 'server.address': name, 'server.port': Number(port) || defaultPorts[scheme] }),
    ...(clientAddress !== '' && { 'client.address': clientAddress }),
    ...(peer !== '' && { 'network.peer.address': peer }),
    ...(request.httpVersion !== undefined && { 'network.protocol.version': request.httpVersion }),
  };
}

/** The attributes of a request's span that are known when it begins. */
export function requestAttributes({ request, route, scheme }: ObservedRequest): Attributes {
  const { method, path, query } = request;
  const userAgent = request.header('user-agent');
  return {
    'http.request.method': methodOf(method),
    ...(!knownMethods.has(method) && { 'http.request.method_original': method }),
    'url.scheme': scheme,
    'url.path': path,
    ...(query !== '' && { 'url.query': redacted(query) }),
    ...(route !== undefined && { 'http.route': route }),
    ...(userAgent !== undefined && { 'user_agent.original': userAgent }),
  };
}

/** A query without its values: inputs, and credentials of WebSockets, are for no backend of traces. */
const redacted = (query: string): string => query.replace(/=[^&]*/g, '=REDACTED');
