import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, createGateway, type RequestRecord, type GatewayOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { serve } from './servers.ts';
import { openSocket } from './socketClient.ts';

const createCounters = () => ({
  begun: 0,
  /** The code of each abort reason, in order. */
  aborted: [] as string[],
  /** Streams that the gateway has closed by `return()`. */
  discarded: 0,
  /** Outputs of `late` that were serialized as JSON. */
  serialized: 0,
  written: 0,
  /** Ends the calls of `waits` and `startsLate`. */
  release: Promise.withResolvers<void>(),
});

const t = initTRPC.meta<GatewayMeta>().create();

/** A procedure that is served at a path by GET. */
const get = (path: `/${string}`, meta: GatewayMeta = {}) =>
  t.procedure.meta({ ...meta, openapi: { method: 'GET', path } });

function createRouter(counters: ReturnType<typeof createCounters>) {
  const wait = async (ms: number, signal: AbortSignal | undefined) => {
    counters.begun += 1;
    signal?.addEventListener('abort', () => counters.aborted.push(codeOf(signal.reason)), { once: true });
    await sleep(ms, undefined, { signal });
    return ms;
  };
  const Ms = z.object({ ms: z.int().default(0) }).prefault({});
  return t.router({
    list: get('/list')
      .input(z.object({ tag: z.array(z.string()).optional() }).optional())
      .output(z.int())
      .query(({ input }) => input?.tag?.length ?? 0),
    costly: get('/costly', { rateLimitCost: 3 })
      .output(z.int())
      .query(() => 3),
    free: get('/free', { rateLimitCost: 0 })
      .output(z.int())
      .query(() => 0),
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/write' } })
      .input(z.object({ value: z.json(), ms: z.int().default(0) }))
      .output(z.string())
      .mutation(async ({ input }) => {
        await sleep(input.ms);
        counters.written += 1;
        return 'written';
      }),
    fill: t.procedure
      .meta({
        openapi: {
          method: 'POST',
          path: '/form',
          contentTypes: ['application/x-www-form-urlencoded', 'application/json'],
        },
      })
      .input(z.object({ tag: z.array(z.string()) }))
      .output(z.int())
      .mutation(({ input }) => input.tag.length),
    slow: get('/slow')
      .input(Ms)
      .output(z.int())
      .query(({ input, signal }) => wait(input.ms, signal)),
    hurried: get('/hurried', { callTimeoutMs: 300 })
      .input(Ms)
      .output(z.int())
      .query(({ input, signal }) => wait(input.ms, signal)),
    /** Ignores its abort signal. */
    stubborn: get('/stubborn')
      .input(Ms)
      .output(z.int())
      .query(({ input }) => wait(input.ms, undefined)),
    /** Completes when `release` resolves. */
    waits: t.procedure.query(async () => {
      await counters.release.promise;
      return 'released';
    }),
    open: t.procedure
      .meta({ openapi: { method: 'GET', path: '/open', protect: false } })
      .output(z.string())
      .query(() => 'open'),
    echo: t.procedure
      .meta({ openapi: { method: 'POST', path: '/echo' } })
      .input(z.object({ text: z.string() }))
      .output(z.string())
      .mutation(({ input }) => input.text),
    /** Returns a string whose JSON has `bytes` bytes. */
    large: get('/large')
      .input(z.object({ bytes: z.int() }))
      .output(z.string())
      .query(({ input }) => 'x'.repeat(input.bytes - 2)),
    /** Returns a value that is computed while it is serialized. */
    late: get('/late')
      .input(z.object({ bytes: z.int() }))
      .output(z.any())
      .query(({ input }) => ({
        toJSON() {
          counters.serialized += 1;
          return 'x'.repeat(input.bytes - 2);
        },
      })),
    largeTicks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/large-ticks', event: z.string() } })
      .subscription(async function* () {
        yield 'small';
        yield 'x'.repeat(2000);
        yield 'small';
      }),
    broken: get('/broken')
      .output(z.string())
      .query(() => {
        throw new Error('disk on fire');
      }),
    teapot: get('/teapot')
      .output(z.string())
      .query(() => {
        throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The kettle is cold.' });
      }),
    /** Fails with its own `Retry-After`. */
    busy: t.procedure.input(z.int()).query(({ input }) => {
      const cause = Object.assign(new Error('busy'), { retryAfterSeconds: input });
      throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Busy.', cause });
    }),
    /** Streams bytes for 300 ms, which is longer than `callTimeoutMs` of the tests. */
    drip: t.procedure
      .meta({ openapi: { method: 'GET', path: '/drip', produces: 'text/plain' } })
      .query(async function* () {
        for (let at = 0; at < 5; at += 1) {
          await sleep(60);
          yield Buffer.from('.');
        }
      }),
    /** Returns its stream after `ms`, and ignores its abort signal. */
    lateDrip: t.procedure
      .meta({ openapi: { method: 'GET', path: '/late-drip', produces: 'text/plain' } })
      .input(Ms)
      .query(async ({ input }) => {
        await sleep(input.ms);
        return {
          [Symbol.asyncIterator]: () => ({
            next: async () => ({ done: true as const, value: undefined }),
            async return() {
              counters.discarded += 1;
              return { done: true as const, value: undefined };
            },
          }),
        } satisfies AsyncIterable<Uint8Array>;
      }),
    /** Yields a number every 50 ms, for `ms`. */
    count: t.procedure.input(Ms).query(async function* ({ input }) {
      for (let at = 0; at < input.ms; at += 50) {
        await sleep(50);
        yield at;
      }
    }),
    lateTicks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/late-ticks', event: z.int() } })
      .input(Ms)
      .subscription(async ({ input, signal }) => {
        await sleep(input.ms, undefined, { signal });
        return (async function* () {
          yield 1;
        })();
      }),
    ticks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
      .subscription(async function* ({ signal }) {
        for (let n = 1; n <= 5; n += 1) {
          await sleep(60, undefined, { signal });
          yield n;
        }
      }),
    /** Yields until its signal is aborted. */
    endless: t.procedure
      .meta({ openapi: { method: 'GET', path: '/endless', event: z.int() } })
      .subscription(async function* ({ signal }) {
        signal?.addEventListener('abort', () => counters.aborted.push('endless'), { once: true });
        for (let n = 1; ; n += 1) {
          yield n;
          await sleep(20, undefined, { signal });
        }
      }),
    /** Yields nothing until its signal is aborted. */
    silence: t.procedure.subscription(async function* ({ signal }) {
      if (signal && !signal.aborted) await once(signal, 'abort');
      yield 1;
    }),
    /** Ignores its signal and never yields. */
    neverYields: t.procedure
      .meta({ openapi: { method: 'GET', path: '/never-yields', event: z.int() } })
      .subscription(async function* () {
        await new Promise(() => {});
        yield 1;
      }),
    /** Returns its observable when `release` resolves, even if its signal is aborted. */
    startsLate: t.procedure.subscription(async () => {
      await counters.release.promise;
      return observable<number>((observer) => observer.complete());
    }),
  });
}

type Router = ReturnType<typeof createRouter>;
export type ServiceOptions = Partial<Omit<GatewayOptions<Router, { readonly name: string }>, 'router'>>;

export const validKey = 'Bearer good-key';
export const otherValidKey = 'Bearer other-key';

export type ServiceRequest = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> };

export type Service = Awaited<ReturnType<typeof startService>>;

/** Serves a gateway with these options on the adapter of this run, until the test ends. */
export async function startService(options: ServiceOptions = {}) {
  const counters = createCounters();
  const records: RequestRecord[] = [];
  const verifiedTokens: string[] = [];
  const keys = new Map([
    ['good-key', { name: 'Ada' }],
    ['other-key', { name: 'Bob' }],
  ]);
  const gateway = await createGateway<Router, { readonly name: string }>({
    router: createRouter(counters),
    authentication: bearer({
      async verify(token) {
        verifiedTokens.push(token);
        return keys.get(token);
      },
    }),
    createContext: () => ({}),
    document: { title: 'Service', version: '0.0.0' },
    routes: { '/page': () => ({ status: 200, headers: [['content-type', 'text/plain']], body: 'page' }) },
    onResponse: (record) => records.push(record),
    ...options,
  });
  const server = await serve(gateway);
  onTestFinished(async () => {
    await server.close({ timeoutMs: 0 });
  });

  /** Sends a request, by default with the valid key. */
  const send = (target: string, init: ServiceRequest = {}): Promise<Response> =>
    server.fetch(`${server.origin}${target}`, {
      ...init,
      headers: { authorization: validKey, ...init.headers },
    });

  return {
    gateway,
    server,
    counters,
    records,
    verifiedTokens,
    send,
    post: (target: string, body: unknown, headers?: Record<string, string>) =>
      send(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Opens a WebSocket, by default with the valid key. */
    dial: (target = '/trpc', headers: Record<string, string> = {}) =>
      openSocket(server, target, { authorization: validKey, ...headers }),
  };
}

const codeOf = (reason: unknown) => (reason instanceof TRPCError ? reason.code : String(reason));

/** The target of a tRPC batch of `count` calls of one procedure. */
export const batchTarget = (path: string, count: number) => `/trpc/${Array(count).fill(path).join()}?batch=1`;

export const nestedJson = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
