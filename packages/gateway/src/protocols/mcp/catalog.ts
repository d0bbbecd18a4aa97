import type { OutgoingResponse } from '../../http/response.ts';
import { formatValue } from '../../http/formatValue.ts';
import { isObject } from '../../http/isObject.ts';
import { mostSimilar } from '../../checks/optionRules.ts';
import { grantedScopes } from '../../auth/scopes.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import { olderVersions, supportedVersions, type Message } from './message.ts';
import { listen } from './eventStream.ts';
import { errorCodes, errorResponse, resultResponse } from './responses.ts';
import type { Tools } from './tools.ts';

/** The tools, the identity of the server and its instructions, which messages that call no tool read. */
export interface Catalog {
  readonly tools: Tools;
  readonly server: McpSettings['server'];
  readonly instructions: string | undefined;
}

/** How long clients may keep what the server says of itself, in milliseconds: it changes with a deploy only. */
const ttlMs = 60_000;

const capabilities = { tools: {} };

/** Responds to a message that calls no tool. */
export function catalogResponse(
  message: Message,
  context: RequestContext,
  catalog: Catalog,
): OutgoingResponse {
  const { id, isCurrent, method, params } = message;
  const { instructions, server } = catalog;
  if (method === 'tools/list') return resultResponse(toolList(isCurrent, context, catalog), id);
  if (isCurrent && method === 'subscriptions/listen') return listen(message);
  if (isCurrent && method === 'server/discover') {
    const _meta = { 'io.modelcontextprotocol/serverInfo': server };
    const cacheScope = cacheScopeOf(context);
    const result = {
      resultType: 'complete',
      supportedVersions,
      capabilities,
      instructions,
      ttlMs,
      cacheScope,
    };
    return resultResponse(JSON.stringify({ ...result, _meta }), id);
  }
  if (!isCurrent && method === 'ping') return resultResponse('{}', id);
  if (!isCurrent && method === 'initialize') {
    const requested = olderVersions.find((version) => version === params['protocolVersion']);
    const protocolVersion = requested ?? olderVersions[0];
    const result = { protocolVersion, capabilities, serverInfo: server, instructions };
    return resultResponse(JSON.stringify(result), id);
  }
  // In an older revision, 404 is the status of a session that has ended.
  const status = isCurrent ? 404 : 200;
  const error = { code: errorCodes.methodNotFound, message: 'This server has tools only.' };
  return errorResponse(status, error, id);
}

function toolList(isCurrent: boolean, context: RequestContext, { tools }: Catalog): string {
  const entries = allowedTools(context, tools).map(({ entry }) => entry);
  const cacheScope = cacheScopeOf(context);
  const caching = isCurrent ? `,"ttlMs":${ttlMs},"cacheScope":"${cacheScope}","resultType":"complete"` : '';
  return `{"tools":[${entries.join(',')}]${caching}}`;
}

function allowedTools(context: RequestContext, tools: Tools) {
  const all = [...tools.values()];
  const hasScopes = all.some(({ procedure }) => procedure.scopes);
  const granted = hasScopes ? grantedScopes(context.scheme, context.identity) : [];
  return all.filter(({ procedure: { scopes = [] } }) => scopes.every((scope) => granted.includes(scope)));
}

/** The number of tools up to which the error of an unknown one names them. */
const fewTools = 10;

/** The longest name of a tool, in characters (MCP 2026-07-28, "Tool Names"). */
const maxNameLength = 128;

/**
 * The most pairs of letters that are compared to find a similar name, such as 100 names of 20 letters with one of 20. They
 * take 0.3 ms, and an unknown tool may need no credential.
 */
const maxPairs = 40_000;

/** Returns what is wrong with the params of a call: a model can correct its next call by that. */
export function callProblem(params: Message['params'], context: RequestContext, tools: Tools): string {
  const { name, arguments: args } = params;
  if (typeof name !== 'string') {
    const found = name === undefined ? 'missing' : formatValue(name);
    return `params.name is ${found}; it must be the name of a tool.`;
  }
  if (tools.has(name) && !isObject(args)) {
    return `params.arguments is ${formatValue(args)}; it must be an object, or absent for a tool without input.`;
  }
  const isLong = name.length > maxNameLength;
  const names = allowedTools(context, tools).map((tool) => tool.name);
  const pairs = names.reduce((sum, { length }) => sum + length * name.length, 0);
  const similar = isLong || pairs > maxPairs ? undefined : mostSimilar(name, names);
  const few = names.length <= fewTools ? `The tools are ${names.join(', ')}.` : undefined;
  const others = few ?? 'tools/list has the names of the tools.';
  const shown = isLong ? `${name.slice(0, maxNameLength)}…` : name;
  return `Unknown tool: ${shown}. ${similar === undefined ? others : `Did you mean ${similar}?`}`;
}

/** Shared caches may keep only what is sent without a credential. */
const cacheScopeOf = ({ scheme }: RequestContext) => (scheme === undefined ? 'public' : 'private');
