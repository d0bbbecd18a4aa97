import type { Attributes } from '@opentelemetry/api';
import type { ObservedRequest, RequestRecord } from 'trpc-gateway';
import { distinctCodes } from '../failedCalls.ts';

/** Methods with their own label. Clients can send any method, so all others are reported as `_OTHER`. */
const knownMethods: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
);

export const methodOf = (method: string): string => (knownMethods.has(method) ? method : '_OTHER');

const defaultPorts = { http: 80, https: 443 };

/** Returns the attributes shared by a request and its calls, from the `Host` header (RFC 9110 §7.2) and the connection. */
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

/** Returns the attributes of a request's span that are known when the request starts. */
export function requestAttributes({ request, route, scheme }: ObservedRequest): Attributes {
  const { method, path, query } = request;
  const userAgent = request.header('user-agent');
  return {
    'http.request.method': methodOf(method),
    ...(!knownMethods.has(method) && { 'http.request.method_original': method }),
    'url.scheme': scheme,
    'url.path': path,
    ...(query !== '' && { 'url.query': redactQuery(query) }),
    ...(route !== undefined && { 'http.route': route }),
    ...(userAgent !== undefined && { 'user_agent.original': userAgent }),
  };
}

/** Says how calls ended, which a 200 of MCP, a batch or a stream hides. The conventions do not name it. */
export const outcomeAttributes = ({ callErrors, isReplay }: RequestRecord): Attributes => ({
  ...(callErrors && { 'trpc_gateway.call_errors': [...distinctCodes(callErrors)] }),
  ...(isReplay && { 'trpc_gateway.is_replay': true }),
});

/** Replaces the values of a query: inputs and WebSocket credentials must not reach a tracing backend. */
const redactQuery = (query: string): string => query.replace(/=[^&]*/g, '=REDACTED');
