import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runtimes } from '@petstore/testing/runtimes';
import { type Case, mcpSessionRequests, mcpSessions, type OwnRequest, orpcRequests } from './cases.ts';

/** Thrown for a measurement that is impossible on this machine; the message says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** A server that is measured: a process of its own. */
export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Which store it serves: every contender the one in memory, so that they can be compared; the pet store its own too. */
  readonly store: 'memory' | 'embedded' | 'mongodb';
  readonly runtime: 'node' | 'bun';
  readonly command: () => Promise<readonly [file: string, ...args: string[]]>;
  readonly environment: Readonly<Record<string, string>>;
  /** Which headers its responses have: all those of the gateway, or, of those with minimal work, only `Content-Type`. */
  readonly headers: 'all' | 'minimal';
  /** The only cases that it is measured in. Default: all. */
  readonly cases?: readonly string[];
  /** The path that answers 200 when it has started. Default: the list of animals. */
  readonly readyPath?: string;
  /** The cases that it serves in a protocol of its own. */
  readonly own?: Readonly<Record<string, OwnRequest>>;
  /** The cases that it cannot serve, with the reason. */
  readonly lacks: Readonly<Record<string, string>>;
}

/** Cases that are measured together, and who answers them. */
export interface Suite {
  readonly cases: readonly Case[];
  readonly contenders: readonly Contender[];
}

/** A case as a contender serves it: `undefined` where it is not measured in that case. */
export function caseOf({ cases, lacks, own }: Contender, subject: Case): Case | undefined {
  const { name } = subject;
  if (name in lacks || (cases !== undefined && !cases.includes(name))) return undefined;
  return own?.[name] ? { ...subject, ...own[name] } : subject;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = '--conditions=trpc-gateway-source';
const petStoreSource = at('../../../apps/server/src/main.ts');

const root = at('../../../');
let built: Promise<string> | undefined;

/** The file that `npm start` runs, built first where sources have changed. */
const petStoreBundle = (): Promise<string> =>
  (built ??= promisify(execFile)(
    `${root}node_modules/.bin/turbo`,
    ['run', 'build', '--filter=@petstore/server'],
    { cwd: root },
  ).then(() => `${root}apps/server/dist/main.js`));

/** The command of a contender on Node. */
export const node =
  (file: string, ...before: string[]) =>
  async (): Promise<[string, ...string[]]> => [process.execPath, source, ...before, file];
/** The command of a contender on the Bun of `.ci/runtimes`. */
export const bun =
  (file: string, ...before: string[]) =>
  async (): Promise<[string, ...string[]]> => {
    const { bun: executable } = runtimes();
    if (executable !== undefined) return [executable, source, ...before, file];
    throw new UnavailableError('.ci/runtimes has no Bun for this machine');
  };

/** Cases that a contender cannot serve for one reason. */
const lacking = (names: readonly string[], reason: string) =>
  Object.fromEntries(names.map((name) => [name, reason]));
const rpcCases = ['query', 'mutation', 'batch10', 'batch100', 'lines', 'socket', 'events'];
const rpcErrors = ['unknownProcedure', 'wrongMethod'];
const no405 = lacking(['unknownMethod'], 'it answers 404');
const noMcp = lacking(['mcp'], 'it has no MCP of its own: see the rows of the official SDK');
const noMcpByHand = lacking(['mcp'], 'not written by hand');

/**
 * Load shedding is off: closed-loop clients saturate the server, and by default it would reject some calls (docs/gateway/limits.md).
 * What it takes to know how long they wait is measured all the same.
 */
const environment = { MAX_QUEUE_MS: '60000', LOG_REQUESTS: 'errors' };

/** The pet store's process over the store in memory. */
const gateway = node(petStoreSource, '--import', at('./contenders/gateway.ts'));

/** The cases in which resolvers that are async, and the middleware, make a difference. */
const styledCases = ['get', 'list20', 'create', 'query', 'batch10', 'lines'];

/** A contender on Node that does the least work on the store in memory, unless it says otherwise. */
export const contender = (
  described: Pick<Contender, 'name' | 'title' | 'command'> & Partial<Contender>,
): Contender => ({
  store: 'memory',
  runtime: 'node',
  environment: {},
  headers: 'minimal',
  lacks: {},
  ...described,
});

/** A contender, and the same with async resolvers, and with async resolvers behind a middleware (`petStore/resolvers.ts`). */
const inEachStyle = (described: Parameters<typeof contender>[0]): readonly Contender[] => [
  contender(described),
  contender({
    ...described,
    name: `${described.name}-async`,
    title: `${described.title}, async`,
    environment: { ...described.environment, BENCH_RESOLVERS: 'async' },
    cases: styledCases,
  }),
  contender({
    ...described,
    name: `${described.name}-middleware`,
    title: `${described.title}, async + middleware`,
    environment: { ...described.environment, BENCH_RESOLVERS: 'middleware' },
    cases: styledCases,
  }),
];

/** All that are measured, `minimal` first, which all others are compared with. */
export const contenders: readonly Contender[] = [
  ...inEachStyle({
    name: 'minimal',
    title: 'minimal',
    command: node(at('./contenders/uwsByHand.ts')),
    lacks: noMcpByHand,
  }),
  ...inEachStyle({
    name: 'same-response',
    title: 'same response',
    command: node(at('./contenders/uwsByHand.ts')),
    environment: { BENCH_RESPONSE: 'same' },
    headers: 'all',
    lacks: noMcpByHand,
  }),
  contender({
    name: 'same-response-compiled',
    title: 'same response, schemas compiled by hand',
    command: node(at('./contenders/uwsByHand.ts')),
    environment: { BENCH_RESPONSE: 'same', BENCH_SCHEMAS: 'compiled' },
    headers: 'all',
    lacks: noMcpByHand,
  }),
  ...inEachStyle({
    name: 'gateway',
    title: 'this gateway on uWebSockets.js',
    command: gateway,
    environment,
    headers: 'all',
  }),
  ...inEachStyle({
    name: 'gateway-node',
    title: 'this gateway on node:http',
    command: gateway,
    environment: { ...environment, SERVER: 'node' },
    headers: 'all',
  }),
  ...inEachStyle({
    name: 'gateway-bun',
    title: 'this gateway on Bun',
    runtime: 'bun',
    command: bun(petStoreSource, '--preload', at('./contenders/gatewayOnBun.ts')),
    environment,
    headers: 'all',
  }),
  contender({
    name: 'gateway-log-all',
    title: 'this gateway on uWebSockets.js, LOG_REQUESTS=all',
    command: gateway,
    environment: { ...environment, LOG_REQUESTS: 'all' },
    headers: 'all',
  }),
  ...inEachStyle({
    name: 'node',
    title: 'node:http by hand',
    command: node(at('./contenders/nodeHttp.ts')),
    lacks: { ...lacking(['socket'], 'node:http has no WebSockets'), ...noMcpByHand },
  }),
  ...inEachStyle({
    name: 'fastify',
    title: 'Fastify, tRPC by its plugin',
    command: node(at('./contenders/fastify.ts')),
    lacks: {
      ...lacking(['socket'], 'its WebSockets are the package ws, as in the row of tRPC'),
      ...no405,
      ...noMcp,
    },
  }),
  ...inEachStyle({
    name: 'hono',
    title: 'Hono on Node, tRPC by its fetch adapter',
    command: node(at('./contenders/hono.ts')),
    lacks: { ...lacking(['socket'], 'tRPC has no WebSocket adapter for it'), ...no405, ...noMcp },
  }),
  ...inEachStyle({
    name: 'orpc',
    title: 'oRPC 2 beta, its own RPC',
    command: node(at('./contenders/orpc.ts')),
    own: orpcRequests,
    lacks: {
      ...lacking(['socket', 'events'], 'not written for oRPC'),
      ...lacking(['batch100'], 'its batches are of at most 10'),
      ...lacking(rpcErrors, 'it has error responses of its own'),
      ...no405,
      ...noMcp,
    },
  }),
  ...inEachStyle({
    name: 'trpc',
    title: 'Express, tRPC and trpc-to-openapi',
    command: node(at('./contenders/trpc.ts')),
    lacks: { ...no405, ...noMcp },
  }),
  contender({
    name: 'mcp-sdk',
    title: `official MCP SDK, ${mcpSessions} sessions`,
    command: node(at('./contenders/mcpSdk.ts')),
    environment: { MCP_SESSIONS: String(mcpSessions) },
    own: mcpSessionRequests,
    cases: ['mcp'],
  }),
  contender({
    name: 'mcp-sdk-stateless',
    title: 'official MCP SDK, a server per request',
    command: node(at('./contenders/mcpSdk.ts')),
    cases: ['mcp'],
  }),
  ...inEachStyle({
    name: 'bun',
    title: 'Bun by hand',
    runtime: 'bun',
    command: bun(at('./contenders/bun.ts')),
    lacks: lacking(['socket', 'mcp'], 'not written by hand for Bun'),
  }),
  ...inEachStyle({
    name: 'elysia',
    title: 'Elysia on Bun',
    runtime: 'bun',
    command: bun(at('./contenders/elysia.ts')),
    lacks: {
      ...lacking([...rpcCases, ...rpcErrors], 'its plugin for tRPC was not tried'),
      ...no405,
      ...noMcp,
    },
  }),
  contender({
    name: 'server-embedded',
    title: 'npm start, embedded store',
    store: 'embedded',
    command: async () => [process.execPath, await petStoreBundle()],
    environment,
    headers: 'all',
    lacks: lacking(['events'], 'the pet store has no subscription'),
  }),
  contender({
    name: 'server-mongodb',
    title: 'npm start, MongoDB store',
    store: 'mongodb',
    async command() {
      if (!process.env['MONGODB_URI']) throw new UnavailableError('MONGODB_URI is not set');
      return [process.execPath, await petStoreBundle()];
    },
    environment: {
      ...environment,
      MONGODB_URI: process.env['MONGODB_URI'] ?? '',
      // A new one: the cases ask for animals by ids that begin at 1. It is kept for inspection.
      MONGODB_DB: `petstore-bench-${process.pid}`,
    },
    headers: 'all',
    lacks: lacking(['events'], 'the pet store has no subscription'),
  }),
];
