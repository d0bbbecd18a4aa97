import { isObject } from '../../http/isObject.ts';
import { hasScopes } from '../../auth/scopes.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import { errorCodes, MessageError, olderVersions, supportedVersions, type Message } from './message.ts';
import type { Tools } from './tools.ts';

/** What the messages that call no tool are answered from. */
export interface Catalog {
  readonly tools: Tools;
  readonly server: McpSettings['server'];
  /** Whether the list of tools depends on the caller. */
  readonly isListPrivate: boolean;
}

/** How long clients may keep what the server says of itself, in milliseconds: it changes with a deploy only. */
const ttlMs = 60_000;

const capabilities = { tools: {} };

/** Returns the result of a message that calls no tool, as JSON. */
export function answer(
  { id, isCurrent, method, params }: Message,
  context: RequestContext,
  { isListPrivate, server, tools }: Catalog,
): string | MessageError {
  if (method === 'tools/list') {
    const entries: string[] = [];
    for (const { entry, olderEntry, procedure } of tools.values()) {
      if (procedure.scopes && !hasScopes(context, procedure.scopes)) continue;
      entries.push(isCurrent ? entry : olderEntry);
    }
    const caching = `,"ttlMs":${ttlMs},"cacheScope":"${isListPrivate ? 'private' : 'public'}"`;
    return `{"tools":[${entries.join(',')}]${isCurrent ? `${caching},"resultType":"complete"` : ''}}`;
  }
  const serverInfo = { name: server.name, version: server.version };
  if (isCurrent && method === 'server/discover') {
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
    const caching = { ttlMs, cacheScope: 'public' };
    return JSON.stringify({ supportedVersions, capabilities, ...caching, _meta, resultType: 'complete' });
  }
  if (!isCurrent && method === 'ping') return '{}';
  if (!isCurrent && method === 'initialize') {
    const { protocolVersion: requested } = params;
    const protocolVersion = olderVersions.find((version) => version === requested) ?? olderVersions[0];
    return JSON.stringify({ protocolVersion, capabilities, serverInfo });
  }
  const message = 'The method is not supported: this server has tools only.';
  // In an older revision, 404 is the status of a session that has ended.
  return new MessageError(errorCodes.methodNotFound, message, isCurrent ? 404 : 200, id);
}

/**
 * Returns the messages of a stream of `subscriptions/listen`. The tools do not change while the process runs, so the
 * stream acknowledges that it will have no notification, and ends.
 */
export function listen({ id, params }: Message): readonly string[] | MessageError {
  if (!isObject(params['notifications'])) {
    return new MessageError(errorCodes.invalidParams, 'params.notifications must be an object.', 200, id);
  }
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const method = 'notifications/subscriptions/acknowledged';
  return [
    { jsonrpc: '2.0', method, params: { notifications: {}, _meta } },
    { jsonrpc: '2.0', result: { resultType: 'complete', _meta }, id },
  ].map((message) => JSON.stringify(message));
}
