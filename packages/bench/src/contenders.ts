import { fileURLToPath } from 'node:url';
import { findBun } from './findBun.ts';
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
  /**
   * Which headers its answers have: all those of the gateway, or, of those with minimal work, only `Content-Type`.
   */
  readonly headers: 'all' | 'minimal';
  /** The cases that it cannot serve, with the reason. */
  readonly lacks: Readonly<Record<string, string>>;
}

/** What cannot be measured on this machine; the message says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = '--conditions=@petstore/source';
const petStoreSource = at('../../../apps/server/src/main.ts');

const node =
  (file: string, ...before: string[]) =>
  async (): Promise<[string, ...string[]]> => [process.execPath, source, ...before, file];
const bun = (file: string) => async (): Promise<[string, ...string[]]> => [await findBun(), source, file];

const lacking = (names: readonly string[], reason: string) =>
  Object.fromEntries(names.map((name) => [name, reason]));
const otherErrors = lacking(
  ['unknownMethod', 'unknownProcedure', 'wrongMethod'],
  'it has error responses of its own',
);
const rpcCases = ['query', 'mutation', 'batch10', 'batch100', 'lines', 'socket', 'events'];

/**
 * It is asked for all that it can do, by clients who all wait: by default it would refuse some of them (`npm run test:load`).
 * What it takes to know how long they wait is measured all the same.
 */
const unhurried = { MAX_QUEUE_MS: '60000' };

/** The pet store's process over the store in memory. */
const gateway = node(petStoreSource, '--import', at('./contenders/gateway.ts'));

/** Those that everything is compared over, the bare one first. */
export const contenders: readonly Contender[] = [
  {
    name: 'minimal',
    title: 'minimal: uWebSockets.js by hand',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/minimal.ts')),
    environment: {},
    headers: 'minimal',
    lacks: {},
  },
  {
    name: 'same-answer',
    title: 'same answer: all of our work by hand',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/sameAnswer.ts')),
    environment: {},
    headers: 'all',
    lacks: {},
  },
  {
    name: 'same-answer-compiled',
    title: 'same answer, schemas compiled by hand',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/sameAnswer.ts')),
    environment: { BENCH_SCHEMAS: 'compiled' },
    headers: 'all',
    lacks: {},
  },
  {
    name: 'gateway',
    title: 'this gateway',
    store: 'memory',
    runtime: 'node',
    command: gateway,
    environment: { ...unhurried, LOG_REQUESTS: 'errors' },
    headers: 'all',
    lacks: {},
  },
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
  {
    name: 'gateway-middleware',
    title: 'this gateway, procedures with a middleware',
    store: 'memory',
    runtime: 'node',
    command: gateway,
    environment: { ...unhurried, LOG_REQUESTS: 'errors', BENCH_ROUTER: 'middleware' },
    headers: 'all',
    lacks: {},
  },
  {
    name: 'node',
    title: 'bare node:http',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/nodeHttp.ts')),
    environment: {},
    headers: 'minimal',
    lacks: lacking(['socket'], 'node:http has no WebSockets'),
  },
  {
    name: 'fastify',
    title: 'fastify 5, tRPC by its plugin',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/fastify.ts')),
    environment: {},
    headers: 'all',
    lacks: {
      ...lacking(['socket'], 'its WebSockets are the package ws, as in the row of tRPC'),
      ...otherErrors,
    },
  },
  {
    name: 'hono',
    title: 'hono on Node, tRPC by its fetch adapter',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/hono.ts')),
    environment: {},
    headers: 'all',
    lacks: { ...lacking(['socket'], 'tRPC has no WebSocket adapter for it'), ...otherErrors },
  },
  {
    name: 'orpc',
    title: 'oRPC on Node',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/orpc.ts')),
    environment: {},
    headers: 'all',
    lacks: { ...lacking(rpcCases, "oRPC speaks a protocol of its own, not tRPC's"), ...otherErrors },
  },
  {
    name: 'trpc',
    title: 'tRPC standalone + trpc-to-openapi',
    store: 'memory',
    runtime: 'node',
    command: node(at('./contenders/trpc.ts')),
    environment: {},
    headers: 'all',
    lacks: otherErrors,
  },
  {
    name: 'bun',
    title: 'bare Bun',
    store: 'memory',
    runtime: 'bun',
    command: bun(at('./contenders/bun.ts')),
    environment: {},
    headers: 'minimal',
    lacks: lacking(['socket'], 'not written by hand for Bun'),
  },
  {
    name: 'elysia',
    title: 'Elysia on Bun',
    store: 'memory',
    runtime: 'bun',
    command: bun(at('./contenders/elysia.ts')),
    environment: {},
    headers: 'all',
    lacks: { ...lacking(rpcCases, 'Elysia has no tRPC adapter'), ...otherErrors },
  },
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
      // A new one: the cases ask for animals by ids that begin at 1. It stays behind, for whoever wants to look at it.
      MONGODB_DB: `petstore-bench-${process.pid}`,
    },
    headers: 'all',
    lacks: lacking(['events'], 'the pet store has no subscription'),
  },
];
