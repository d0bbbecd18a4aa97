import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { requestOf } from '@petstore/testing/mcpMessages';
import { slowness } from '@petstore/testing/slowness';
import type { HttpRequest, Policy } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { getUntypedClient } from '@trpc/client';
import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { has } from '../servers.ts';
import { post, startShape } from '../startShape.ts';

/** Of one service: a call that its client left may run later, beside the next test. */
interface Context {
  runs: number;
}
const t = initTRPC.context<Context>().meta<GatewayMeta>().create();
/** What `prepare` waits for. */
let ready: Promise<void> | undefined;
async function* one() {
  yield 1;
}
async function* endless<Value>(value: Value, signal: AbortSignal | undefined) {
  yield value;
  if (signal && !signal.aborted) await once(signal, 'abort');
}
const router = t.router({
  pay: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pay' }, mcp: { description: 'Pays.' } })
    .output(z.string())
    .mutation(({ ctx }) => `payment ${(ctx.runs += 1)}`),
  /** Ends in a later turn of the event loop, so that its JSON lines are a stream. */
  transfer: t.procedure.mutation(async ({ ctx }) => {
    await nextTurn();
    return `payment ${(ctx.runs += 1)}`;
  }),
  watch: t.procedure
    .meta({ openapi: { method: 'GET', path: '/watch', event: z.int() }, mcp: { description: 'Watches.' } })
    .subscription(({ ctx }) => {
      ctx.runs += 1;
      return one();
    }),
  /** Has its events only in a later turn of the event loop. */
  prepare: t.procedure.subscription(async ({ ctx }) => {
    await nextTurn();
    ctx.runs += 1;
    await ready;
    return one();
  }),
  file: t.procedure
    .meta({ openapi: { method: 'GET', path: '/file', produces: 'application/octet-stream' } })
    .query(({ ctx }) => {
      ctx.runs += 1;
      return new Blob(['file']).stream();
    }),
  left: t.procedure
    .meta({
      openapi: { method: 'GET', path: '/left' },
      mcp: { description: 'Waits until its client leaves.' },
    })
    .query(async ({ ctx, signal }) => {
      ctx.runs += 1;
      if (signal && !signal.aborted) await once(signal, 'abort');
      throw new TRPCError({ code: 'CONFLICT' });
    }),
  endlessEvents: t.procedure
    .meta({ openapi: { method: 'GET', path: '/endless', event: z.int() } })
    .subscription(({ signal }) => endless(1, signal)),
  endlessFile: t.procedure
    .meta({ openapi: { method: 'GET', path: '/endless-file', produces: 'text/plain' } })
    .query(({ signal }) => endless(Buffer.from('file'), signal)),
});

const toolList = requestOf('tools/list');

interface Hooks {
  readonly policy?: Policy;
  readonly createContext?: (request: HttpRequest) => Promise<void>;
  readonly callTimeoutMs?: number;
}

async function start({ policy = {}, createContext, callTimeoutMs = Infinity }: Hooks) {
  const counter: Context = { runs: 0 };
  const settled: (readonly (string | undefined)[])[] = [];
  const audit: Policy = {
    settled: ({ kind, outcomes }) =>
      kind === 'socket' ? undefined : void settled.push(outcomes.map(({ code }) => code)),
  };
  const shape = await startShape(router, {
    mcp: mcp(),
    policies: [policy, audit],
    callTimeoutMs,
    async createContext({ request }) {
      await createContext?.(request);
      return counter;
    },
  });
  const records = () => shape.records.filter(({ status }) => status !== 101);
  return { ...shape, settled, calls: records, runs: () => counter.runs };
}
type Started = Awaited<ReturnType<typeof start>>;
type Way = (started: Started, init?: RequestInit) => Promise<unknown>;

const fetched =
  (path: string, request: RequestInit = {}, headers: object = {}): Way =>
  async ({ origin, server }, init) => {
    const all = { ...(request.headers as object), ...headers };
    return (await server.fetch(`${origin}${path}`, { ...request, headers: all, ...init })).text();
  };
const tool = (name: string): Way =>
  fetched('/mcp', requestOf('tools/call', { name, arguments: {} }, { revision: '2025-11-25' }));
const both = post({ 0: undefined, 1: undefined });
const lines = { 'trpc-accept': 'application/jsonl' };
const events = { accept: 'text/event-stream' };

/** Calls whose response is no stream. */
const whole: Readonly<Record<string, Way>> = {
  REST: fetched('/v1/pay', { method: 'POST' }),
  tRPC: fetched('/trpc/pay', post({})),
  'a batch': fetched('/trpc/pay,transfer?batch=1', both),
  'whole JSON lines': fetched('/trpc/pay,pay?batch=1', both, lines),
  MCP: tool('pay'),
};
const streams: Readonly<Record<string, Way>> = {
  'JSON lines': fetched('/trpc/pay,transfer?batch=1', both, lines),
  'events of REST': fetched('/v1/watch'),
  'events of tRPC': fetched('/trpc/watch', {}, events),
  'later events of tRPC': fetched('/trpc/prepare', {}, events),
  'events of MCP': tool('watch'),
  'a download': fetched('/v1/file'),
};
const onSockets: Readonly<Record<string, Way>> = {
  'a WebSocket': ({ socketTrpc }) => getUntypedClient(socketTrpc()).mutation('pay'),
  'a subscription on a WebSocket': ({ socketTrpc }) =>
    new Promise((resolve, reject) => {
      const onComplete = () => resolve(undefined);
      getUntypedClient(socketTrpc()).subscription('watch', undefined, { onComplete, onError: reject });
    }),
};
const http = { ...whole, ...streams };
const all = { ...http, ...(has('WebSockets') ? onSockets : {}) };
const callsOf = (way: string) => (/batch|lines/i.test(way) ? 2 : 1);

/** Waits for the record of the only request. */
const recorded = async (started: Started) => {
  await expect.poll(() => started.calls().length).toBe(1);
};

const failure = new Error('broken policy');
const broken = () => {
  throw failure;
};
const late = async () => {
  await nextTurn();
  broken();
};
const invalid = { a: 1 } as never;

describe.each(Object.entries(all))('over %s', (way, call) => {
  it.each<[what: string, code: string, policy: (released: Promise<void>) => Policy]>([
    ['complete throws', 'INTERNAL_SERVER_ERROR', () => ({ complete: broken })],
    ['complete rejects', 'INTERNAL_SERVER_ERROR', () => ({ complete: late })],
    ['complete is late', 'GATEWAY_TIMEOUT', (released) => ({ complete: () => released })],
    ['settled throws', 'OK', () => ({ settled: broken })],
    ['settled rejects', 'OK', () => ({ settled: late })],
    ['settled is late', 'OK', (released) => ({ settled: () => released })],
  ])('settled runs once if %s in another policy, and sees %s', async (what, code, policyOf) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const callTimeoutMs = what.endsWith('late') ? 200 * slowness : Infinity;
    const started = await start({ policy: policyOf(promise), callTimeoutMs });
    await call(started).catch(() => undefined);
    await recorded(started);
    resolve();
    await nextTurn();
    expect(started.runs()).toBe(callsOf(way));
    expect(started.settled).toEqual([Array<string>(callsOf(way)).fill(code)]);
    // The record of a stream waits for it too.
    const [record] = started.calls();
    const hasFailed = /^settled (?:rejects|throws)/.test(what);
    expect(!hasFailed || (record?.error as Error | undefined)?.cause === failure).toBe(true);
  });
});

describe.each(Object.entries(http))('over %s', (way, call) => {
  const isOpen = way in streams;
  it.each<[what: string, code: string | undefined, complete: NonNullable<Policy['complete']>]>([
    [
      'another stream',
      'OK',
      (_context, response) => {
        const body = new Response(response.body as never).body as ReadableStream<Uint8Array>;
        response.body = body.pipeThrough(new CompressionStream('gzip')) as never;
      },
    ],
    ['a text', isOpen ? undefined : 'OK', (_context, response) => void (response.body = 'none')],
    ['no body', isOpen ? undefined : 'OK', (_context, response) => void (response.status = 204)],
    ['an invalid body', 'INTERNAL_SERVER_ERROR', (_context, response) => void (response.body = invalid)],
  ])('settled runs once if a policy replaces the body by %s', async (_what, code, complete) => {
    const started = await start({ policy: { complete } });
    await call(started);
    await recorded(started);
    expect(started.settled).toMatchObject([{ length: callsOf(way) }]);
    const [codes] = started.settled;
    // A call may have ended before its stream is closed.
    expect(new Set(codes?.filter((each) => each !== 'OK' || code === 'OK'))).toEqual(new Set([code]));
  });

  it('settled runs once if the client disconnects before the context of the calls exists', async () => {
    const client = new AbortController();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let request: HttpRequest | undefined;
    const started = await start({
      async createContext(received) {
        request = received;
        await released;
      },
    });
    const response = call(started, { signal: client.signal });
    await expect.poll(() => request).toBeDefined();
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await expect.poll(() => request?.isAborted).toBe(true);
    release();
    await recorded(started);
    await expect.poll(started.runs).toBe(callsOf(way));
    expect(started.settled).toMatchObject([{ length: callsOf(way) }]);
    const expected = isOpen || way.includes('lines') ? [undefined] : ['OK'];
    expect(new Set(started.settled[0])).toEqual(new Set(expected));
    // Nobody has received a whole response, whatever the call returned.
    const [record] = started.calls();
    expect(isOpen || record?.status === 499).toBe(true);
    expect(record?.error).toBeUndefined();
  });
});

it.each([
  ['the document', '/openapi.json', {}, 200],
  ['an unknown path', '/nowhere', {}, 404],
  ['OPTIONS', '/v1/pay', { method: 'OPTIONS' }, 204],
  ['the list of tools', '/mcp', toolList, 200],
])(
  'settled does not run for %s, which calls nothing, and does not fail it',
  async (_what, path, init, status) => {
    const failing: Policy = {
      settled() {
        throw new Error('The audit log is full.');
      },
    };
    const { origin, server, settled } = await start({ policy: failing });
    expect((await server.fetch(`${origin}${path}`, init)).status).toBe(status);
    expect(settled).toEqual([]);
  },
);

it('settled runs once for a subscription whose client disconnects before its first event', async () => {
  const client = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  ready = promise;
  let request: HttpRequest | undefined;
  const started = await start({
    async createContext(received) {
      request = received;
    },
  });
  const response = streams['later events of tRPC']?.(started, { signal: client.signal });
  await expect.poll(started.runs).toBe(1);
  client.abort();
  await expect(response).rejects.toThrow('aborted');
  await expect.poll(() => request?.isAborted).toBe(true);
  resolve();
  await recorded(started);
  expect(started.settled).toEqual([[undefined]]);
});

it.each<[protocol: string, call: Way]>([
  ['REST', fetched('/v1/left')],
  ['tRPC', fetched('/trpc/left')],
  ['MCP', tool('left')],
])(
  'settled has CLIENT_CLOSED_REQUEST for a call over %s that fails after its client left',
  async (_protocol, call) => {
    const client = new AbortController();
    const started = await start({});
    const response = call(started, { signal: client.signal });
    await expect.poll(started.runs).toBe(1);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await recorded(started);
    expect(started.settled).toEqual([['CLIENT_CLOSED_REQUEST']]);
  },
);

/** Reads the first value, then disconnects. */
const leave =
  (path: string, headers: object = {}): Way =>
  async ({ origin, server }) => {
    const client = new AbortController();
    const { signal } = client;
    const { body } = await server.fetch(`${origin}${path}`, { headers: { ...headers }, signal });
    const reader = body?.getReader();
    await reader?.read();
    client.abort();
    await reader?.read().catch(() => undefined);
  };
const leaveSubscription: Way = async ({ socketTrpc }) => {
  const client = getUntypedClient(socketTrpc());
  await new Promise<void>((resolve) => {
    const onData = () => resolve(subscription.unsubscribe());
    const subscription = client.subscription('endlessEvents', undefined, { onData });
  });
};
it.each<[what: string, left: Way]>([
  ['events of REST', leave('/v1/endless')],
  ['events of tRPC', leave('/trpc/endlessEvents', events)],
  ['a download', leave('/v1/endless-file')],
  ['a subscription on a WebSocket', leaveSubscription],
])('settled has no outcome of %s that their client left after the first value', async (_what, left) => {
  const started = await start({});
  await left(started);
  await recorded(started);
  expect(started.settled).toEqual([[undefined]]);
});

it('settled runs once for a call on a WebSocket that is stopped while a policy waits', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  let isWaiting = false;
  const policy: Policy = {
    admit({ procedures }) {
      if (procedures[0]?.type !== 'subscription') return undefined;
      isWaiting = true;
      return released;
    },
  };
  const started = await start({ policy });
  const client = getUntypedClient(started.socketTrpc());
  const subscription = client.subscription('watch', undefined, { onComplete() {} });
  await expect.poll(() => isWaiting).toBe(true);
  subscription.unsubscribe();
  // The server reads this call after the stop.
  await client.mutation('pay');
  release(undefined);
  await expect.poll(() => started.calls().length).toBe(2);
  // Only the payment ran.
  expect(started.runs()).toBe(1);
  expect(started.settled).toEqual([['OK'], ['CLIENT_CLOSED_REQUEST']]);
});
