import { fileURLToPath } from 'node:url';
import { type Case, type OwnRequest, orpcRequests } from './cases.ts';
import { findBun } from './findBun.ts';
import { UnavailableError } from './unavailableError.ts';
import { petStoreBundle } from './petStoreBundle.ts';

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
  /** The cases that it serves in a protocol of its own. */
  readonly own?: Readonly<Record<string, OwnRequest>>;
  /** The cases that it cannot serve, with the reason. */
  readonly lacks: Readonly<Record<string, string>>;
}

/** A case as a contender serves it: `undefined` where it is not measured in that case. */
export function caseOf({ cases, lacks, own }: Contender, subject: Case): Case | undefined {
  const { name } = subject;
  if (name in lacks || (cases !== undefined && !cases.includes(name))) return undefined;
  return own?.[name] ? { ...subject, ...own[name] } : subject;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = '--conditions=trpc-gateway-source';
const olderUws = at('../../testing/src/olderUws.ts');
const petStoreSource = at('../../../apps/server/src/main.ts');

const node =
  (file: string, ...before: string[]) =>
  async (): Promise<[string, ...string[]]> => [process.execPath, source, ...before, file];
/** On uws-pack, if the other contenders are on @uwsjs/core: without it, they are on uws-pack themselves. */
const onOlderUws =
  (file: string, ...before: string[]) =>
  async () => {
    const { uwsVersion } = await import('trpc-gateway/uws');
    if (!uwsVersion.startsWith('@uwsjs/core '))
      throw new UnavailableError(`the others run on ${uwsVersion} too`);
    if (!process.version.startsWith('v22.'))
      throw new UnavailableError('uws-pack has no binary for this Node');
    return node(file, '--import', olderUws, ...before)();
  };
const bun =
  (file: string, ...before: string[]) =>
  async (): Promise<[string, ...string[]]> => [await findBun(), source, ...before, file];

const lacking = (names: readonly string[], reason: string) =>
  Object.fromEntries(names.map((name) => [name, reason]));
const rpcCases = ['query', 'mutation', 'batch10', 'batch100', 'lines', 'socket', 'events'];
const rpcErrors = ['unknownProcedure', 'wrongMethod'];
const no405 = lacking(['unknownMethod'], 'it answers 404');

/**
 * Load shedding is off: closed-loop clients saturate the server, and by default it would reject some calls (docs/overload.md).
 * What it takes to know how long they wait is measured all the same.
 */
const unhurried = { MAX_QUEUE_MS: '60000' };

/** The pet store's process over the store in memory. */
const gateway = node(petStoreSource, '--import', at('./contenders/gateway.ts'));

/** The cases in which resolvers that are async, and the middleware, make a difference. */
const styledCases = ['get', 'list20', 'create', 'query', 'batch10', 'lines'];

/** A contender, and the same with async resolvers, and with async resolvers behind a middleware (`petStore/resolvers.ts`). */
const inEachStyle = (contender: Contender): readonly Contender[] => [
  contender,
  {
    ...contender,
    name: `${contender.name}-async`,
    title: `${contender.title}, async`,
    environment: { ...contender.environment, BENCH_RESOLVERS: 'async' },
    cases: styledCases,
  },
  {
    ...contender,
    name: `${contender.name}-middleware`,
    title: `${contender.title}, async + middleware`,
    environment: { ...contender.environment, BENCH_RESOLVERS: 'middleware' },
    cases: styledCases,
  },
];

/** All that are measured, `minimal` first, which all others are compared with. */
export const contenders: readonly Contender[] = [
  ...inEachStyle({
    name: 'minimal',
    title: 'minimal',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/minimal.ts')),
    environment: {},
    headers: 'minimal',
    lacks: {},
  }),
  ...inEachStyle({
    name: 'same-response',
    title: 'same response',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/sameResponse.ts')),
    environment: {},
    headers: 'all',
    lacks: {},
  }),
  {
    name: 'same-response-compiled',
    title: 'same response, schemas compiled by hand',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/sameResponse.ts')),
    environment: { BENCH_SCHEMAS: 'compiled' },
    headers: 'all',
    lacks: {},
  },
  ...inEachStyle({
    name: 'gateway',
    title: 'this gateway',
    store: 'memory',
    runtime: 'node',
    command: gateway,
    environment: { ...unhurried, LOG_REQUESTS: 'errors' },
    headers: 'all',
    lacks: {},
  }),
  {
    name: 'minimal-older',
    title: 'minimal, older uWebSockets.js',
    store: 'memory',
    runtime: 'node',
    command: onOlderUws(at('./contenders/minimal.ts')),
    environment: {},
    headers: 'minimal',
    cases: styledCases,
    lacks: {},
  },
  {
    name: 'gateway-older',
    title: 'this gateway on older uWebSockets.js',
    store: 'memory',
    runtime: 'node',
    command: onOlderUws(petStoreSource, '--import', at('./contenders/gateway.ts')),
    environment: { ...unhurried, LOG_REQUESTS: 'errors' },
    headers: 'all',
    cases: styledCases,
    lacks: {},
  },
  ...inEachStyle({
    name: 'gateway-node',
    title: 'this gateway on node:http',
    store: 'memory',
    runtime: 'node',
    command: gateway,
    environment: { ...unhurried, LOG_REQUESTS: 'errors', SERVER: 'node' },
    headers: 'all',
    lacks: {},
  }),
  ...inEachStyle({
    name: 'gateway-bun',
    title: 'this gateway on Bun',
    store: 'memory',
    runtime: 'bun',
    command: bun(petStoreSource, '--preload', at('./contenders/gatewayOnBun.ts')),
    environment: { ...unhurried, LOG_REQUESTS: 'errors' },
    headers: 'all',
    lacks: {},
  }),
  {
    name: 'gateway-log-all',
    title: 'this gateway, LOG_REQUESTS=all',
    store: 'memory',
    runtime: 'node',
    command: gateway,
    environment: { ...unhurried, LOG_REQUESTS: 'all' },
    headers: 'all',
    lacks: {},
  },
  ...inEachStyle({
    name: 'node',
    title: 'node:http by hand',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/nodeHttp.ts')),
    environment: {},
    headers: 'minimal',
    lacks: lacking(['socket'], 'node:http has no WebSockets'),
  }),
  ...inEachStyle({
    name: 'fastify',
    title: 'Fastify, tRPC by its plugin',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/fastify.ts')),
    environment: {},
    headers: 'minimal',
    lacks: { ...lacking(['socket'], 'its WebSockets are the package ws, as in the row of tRPC'), ...no405 },
  }),
  ...inEachStyle({
    name: 'hono',
    title: 'Hono on Node, tRPC by its fetch adapter',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/hono.ts')),
    environment: {},
    headers: 'minimal',
    lacks: { ...lacking(['socket'], 'tRPC has no WebSocket adapter for it'), ...no405 },
  }),
  ...inEachStyle({
    name: 'orpc',
    title: 'oRPC on Node, RPC in its own protocol',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/orpc.ts')),
    environment: {},
    headers: 'minimal',
    own: orpcRequests,
    lacks: {
      ...lacking(['socket', 'events'], 'not written for oRPC'),
      ...lacking(['batch100'], 'its batches are of at most 10'),
      ...lacking(rpcErrors, 'it has error responses of its own'),
      ...no405,
    },
  }),
  ...inEachStyle({
    name: 'trpc',
    title: 'tRPC standalone + trpc-to-openapi',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/trpc.ts')),
    environment: {},
    headers: 'minimal',
    lacks: no405,
  }),
  ...inEachStyle({
    name: 'bun',
    title: 'Bun by hand',
    store: 'memory',
    runtime: 'bun',
    command: bun(at('./contenders/bun.ts')),
    environment: {},
    headers: 'minimal',
    lacks: lacking(['socket'], 'not written by hand for Bun'),
  }),
  ...inEachStyle({
    name: 'elysia',
    title: 'Elysia on Bun',
    store: 'memory',
    runtime: 'bun',
    command: bun(at('./contenders/elysia.ts')),
    environment: {},
    headers: 'minimal',
    lacks: { ...lacking([...rpcCases, ...rpcErrors], 'Elysia has no tRPC adapter'), ...no405 },
  }),
  {
    name: 'server-embedded',
    title: 'npm start, embedded store',
    store: 'embedded',
    runtime: 'node',
    command: async () => [process.execPath, await petStoreBundle()],
    environment: { ...unhurried, LOG_REQUESTS: 'errors' },
    headers: 'all',
    lacks: lacking(['events'], 'the pet store has no subscription'),
  },
  {
    name: 'server-mongodb',
    title: 'npm start, MongoDB store',
    store: 'mongodb',
    runtime: 'node',
    async command() {
      if (!process.env['MONGODB_URI']) throw new UnavailableError('MONGODB_URI is not set');
      return [process.execPath, await petStoreBundle()];
    },
    environment: {
      ...unhurried,
      LOG_REQUESTS: 'errors',
      MONGODB_URI: process.env['MONGODB_URI'] ?? '',
      // A new one: the cases ask for animals by ids that begin at 1. It is kept for inspection.
      MONGODB_DB: `petstore-bench-${process.pid}`,
    },
    headers: 'all',
    lacks: lacking(['events'], 'the pet store has no subscription'),
  },
];
