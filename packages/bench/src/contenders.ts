import { fileURLToPath } from 'node:url';
import { runtimes } from '@petstore/testing/runtimes';
import { type Case, orpcRequests, type RequestAndResponse } from './cases.ts';

/** Thrown for a measurement that is impossible on this machine; the message says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** A server that is measured: a process of its own. */
export interface Contender {
  readonly name: string;
  readonly title: string;
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
  readonly own?: Readonly<Record<string, RequestAndResponse>>;
}

/** Cases that are measured together, and who answers them. */
export interface Suite {
  readonly cases: readonly Case[];
  readonly contenders: readonly Contender[];
}

/** A case as a contender serves it: `undefined` where it is not measured in that case. */
export function caseOf({ cases, own }: Contender, subject: Case): Case | undefined {
  const { name } = subject;
  if (cases !== undefined && !cases.includes(name)) return undefined;
  return own?.[name] ? { ...subject, requests: [own[name]] } : subject;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = '--conditions=trpc-gateway-source';
const petStoreSource = at('../../../apps/server/src/main.ts');

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

/** Load shedding is off, but measured: closed-loop clients saturate the server (docs/gateway/limits.md). */
const environment = { MAX_QUEUE_MS: '60000', LOG_REQUESTS: 'errors' };

/** The pet store's process over the store in memory. */
const gateway = node(petStoreSource, '--import', at('./contenders/gateway.ts'));

/** A contender on Node that does the least work, unless it says otherwise. */
export const contender = (
  described: Pick<Contender, 'name' | 'title' | 'command'> & Partial<Contender>,
): Contender => ({ runtime: 'node', environment: {}, headers: 'minimal', ...described });

const restCases = ['get', 'list20', 'create'];

const onUws = { title: 'this gateway on uWebSockets.js', command: gateway, headers: 'all' } as const;

/** All that are measured, `minimal` first, which all others are compared with. */
export const contenders: readonly Contender[] = [
  contender({ name: 'minimal', title: 'minimal', command: node(at('./contenders/uwsByHand.ts')) }),
  contender({ ...onUws, name: 'gateway', environment }),
  contender({
    ...onUws,
    name: 'gateway-middleware',
    title: `${onUws.title}, async + middleware`,
    environment: { ...environment, BENCH_RESOLVERS: 'middleware' },
  }),
  contender({
    name: 'gateway-node',
    title: 'this gateway on node:http',
    command: gateway,
    environment: { ...environment, SERVER: 'node' },
    headers: 'all',
  }),
  contender({
    name: 'gateway-bun',
    title: 'this gateway on Bun',
    runtime: 'bun',
    command: bun(petStoreSource, '--preload', at('./contenders/gatewayOnBun.ts')),
    environment,
    headers: 'all',
  }),
  contender({
    name: 'fastify',
    title: 'Fastify, tRPC by its plugin',
    command: node(at('./contenders/fastify.ts')),
  }),
  contender({
    name: 'hono',
    title: 'Hono on Node, tRPC by its fetch adapter',
    command: node(at('./contenders/hono.ts')),
  }),
  contender({
    name: 'orpc',
    title: 'oRPC 2 beta, its own RPC',
    command: node(at('./contenders/orpc.ts')),
    own: orpcRequests,
    cases: [...restCases, ...Object.keys(orpcRequests)],
  }),
  contender({
    name: 'trpc',
    title: 'Express, tRPC and trpc-to-openapi',
    command: node(at('./contenders/trpc.ts')),
  }),
  contender({
    name: 'bun-guarded',
    title: 'Bun by hand, the same guarantees',
    runtime: 'bun',
    command: bun(at('./contenders/bunWithGuarantees.ts')),
    headers: 'all',
    cases: restCases,
  }),
  // Its plugin for tRPC was not tried.
  contender({
    name: 'elysia',
    title: 'Elysia on Bun',
    runtime: 'bun',
    command: bun(at('./contenders/elysia.ts')),
    cases: restCases,
  }),
];
