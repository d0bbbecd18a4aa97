import { initTRPC } from '@trpc/server';
import { createGateway, type Policy, type PolicyContext, type RequestRecord } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { serve } from 'trpc-gateway/node';
import { declareErrors, type GatewayMeta, type ResponseControls } from 'trpc-gateway/procedures';
import { TRPCError } from '@trpc/server';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createRequestMetrics } from './requestMetrics.ts';

const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();
const errors = declareErrors({ OUT_OF_STOCK: { status: 409, message: 'None is left.' } });
const write = (path: `/${string}`) =>
  t.procedure
    .meta({
      openapi: { method: 'POST', path },
      mcp: { description: 'A tool of the test.' },
      idempotencyKey: 'optional',
    })
    .input(z.object({ n: z.int().positive().optional() }))
    .output(z.string());
let runs = 0;
/** The calls of `lateLarge` that run. */
const waiting: (() => void)[] = [];

const router = t.router({
  fine: write('/fine').mutation(() => `run ${(runs += 1)}`),
  sold: write('/sold')
    .errors(errors)
    .mutation(() => {
      throw errors.OUT_OF_STOCK();
    }),
  broken: write('/broken').mutation(() => {
    throw new Error('disk on fire');
  }),
  refused: write('/refused').mutation(() => 'never'),
  late: write('/late').mutation(() => new Promise<string>(() => {})),
  large: write('/large').mutation(() => 'x'.repeat(5000)),
  lateLarge: write('/lateLarge').mutation(async () => {
    await new Promise<void>((resolve) => void waiting.push(resolve));
    return 'x'.repeat(5000);
  }),
  /** Knows its idempotency keys itself. */
  known: t.procedure
    .meta({ openapi: { method: 'POST', path: '/known' }, mcp: { description: 'A tool of the test.' } })
    .output(z.string())
    .mutation(({ ctx }) => {
      ctx.response.replayed();
      return 'known';
    }),
  count: t.procedure
    .meta({ openapi: { method: 'GET', path: '/count', event: z.int() }, mcp: { description: 'Counts.' } })
    .subscription(async function* () {
      yield 1;
      throw new TRPCError({ code: 'CONFLICT', message: 'The steps are blocked.' });
    }),
});

interface Seen {
  readonly outcomes: readonly { readonly procedure: string | undefined; readonly code: string | undefined }[];
  readonly isReplay: boolean;
  readonly isStream: boolean;
}

async function start() {
  const records: RequestRecord[] = [];
  const completed: Seen[] = [];
  const settled: Seen[] = [];
  const seenIn = ({ isReplay, isStream, outcomes: seen }: PolicyContext): Seen => ({
    outcomes: seen.map(({ code, procedure }) => ({ procedure: procedure?.path, code })),
    isReplay,
    isStream,
  });
  const policy: Policy = {
    admit: ({ procedures }) =>
      procedures.some(({ path }) => path === 'refused')
        ? new TRPCError({ code: 'FORBIDDEN', message: 'Not today.' })
        : undefined,
    complete: (context) => void completed.push(seenIn(context)),
    settled: (context) => void settled.push(seenIn(context)),
  };
  const { onResponse, families } = createRequestMetrics('x_');
  const gateway = await createGateway({
    router,
    createContext: ({ response }) => ({ response }),
    document: { title: 'Outcomes', version: '1.0.0' },
    mcp: mcp(),
    idempotency: {},
    policies: [policy],
    callTimeoutMs: 200,
    maxResponseSize: 4000,
    onResponse(record) {
      records.push(record);
      onResponse(record);
    },
  });
  const server = await serve(gateway, { port: 0, host: '127.0.0.1' });
  onTestFinished(async () => void (await server.close({ graceMs: 0 })));
  /** Returns the samples of a counter that are not zero, as `labels value`. */
  const samples = (name: string) =>
    families()
      .filter((family) => family.name === name)
      .flatMap(({ values }) => values)
      .flatMap(({ labels, value }) => (value > 0 ? [`${Object.values(labels).join()} ${value}`] : []));
  return { origin: `http://127.0.0.1:${server.port}`, records, completed, settled, samples };
}

type Started = Awaited<ReturnType<typeof start>>;
type Call = (started: Started, path: string, input: object, headers?: object) => Promise<unknown>;

const post = async (url: string, body: object, headers: object = {}) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return (await fetch(url, { ...init, body: JSON.stringify(body) })).text();
};
const tool = (name: string, input: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input },
});

interface Way {
  readonly protocol: string;
  readonly call: Call;
  /** Whether the call is in a batch with a call of `fine`, which runs first. */
  readonly isBatch?: true;
  readonly isLines?: true;
}

const ways: Readonly<Record<string, Way>> = {
  REST: {
    protocol: 'rest',
    call: ({ origin }, path, input, more) => post(`${origin}/v1/${path}`, input, more),
  },
  tRPC: {
    protocol: 'trpc',
    call: ({ origin }, path, input, more) => post(`${origin}/trpc/${path}`, input, more),
  },
  'a batch of tRPC': {
    protocol: 'trpc',
    isBatch: true,
    call: ({ origin }, path, input) => post(`${origin}/trpc/fine,${path}?batch=1`, { 0: {}, 1: input }),
  },
  'JSON lines': {
    protocol: 'trpc',
    isBatch: true,
    isLines: true,
    call: ({ origin }, path, input) =>
      post(
        `${origin}/trpc/fine,${path}?batch=1`,
        { 0: {}, 1: input },
        { 'trpc-accept': 'application/jsonl' },
      ),
  },
  'a WebSocket': {
    protocol: 'websocket',
    async call({ origin, records }, path, input) {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc`);
      onTestFinished(() => socket.close());
      await once(socket, 'open');
      socket.send(JSON.stringify({ id: 1, method: 'mutation', params: { path, input } }));
      await once(socket, 'message');
      // The request that opened it.
      records.shift();
    },
  },
  MCP: {
    protocol: 'mcp',
    call: ({ origin }, path, input, more) =>
      post(`${origin}/mcp`, tool(path, input), { 'mcp-protocol-version': '2025-11-25', ...more }),
  },
};

type Outcome = readonly [what: string, path: string, input: object, code: string];
const outcomes: readonly Outcome[] = [
  ['a success', 'fine', {}, 'OK'],
  ['a declared error', 'sold', {}, 'CONFLICT'],
  ['an unexpected error', 'broken', {}, 'INTERNAL_SERVER_ERROR'],
  ['an invalid input', 'fine', { n: -1 }, 'BAD_REQUEST'],
  ['an unknown procedure', 'madeUp', {}, 'NOT_FOUND'],
  ['a rejection by a policy', 'refused', {}, 'FORBIDDEN'],
  ['a missed deadline', 'late', {}, 'GATEWAY_TIMEOUT'],
  ['an output that is too large', 'large', {}, 'PAYLOAD_TOO_LARGE'],
];

describe.each(Object.entries(ways))('over %s', (_way, { call, isBatch, isLines, protocol }) => {
  it.each(outcomes)(
    '%s is the outcome that policies, records and metrics have',
    async (_what, path, input, code) => {
      const started = await start();
      await call(started, path, input);
      await vi.waitFor(() => expect(started.records).toHaveLength(1));
      const procedure = path === 'madeUp' ? undefined : path;
      // A policy rejects the whole request.
      const first = { procedure: 'fine', code: code === 'FORBIDDEN' ? code : 'OK' };
      const expected = [...(isBatch ? [first] : []), { procedure, code }];
      const seen = { outcomes: expected, isReplay: false };
      expect(started.settled).toMatchObject([seen]);
      const [completed] = started.completed;
      expect(started.completed).toHaveLength(1);
      // JSON lines may begin before their calls end.
      const isKnown = (index: number) =>
        completed?.outcomes[index]?.code !== undefined || !(isLines && completed?.isStream);
      const known = expected.map((each, index) => (isKnown(index) ? each : { ...each, code: undefined }));
      expect(completed?.outcomes).toEqual(known);
      const failed = expected.filter((each) => each.code !== 'OK');
      expect(started.records[0]).toMatchObject({ calls: expected.length, isReplay: isWithKeys(protocol) });
      expect(started.records[0]?.callErrors ?? []).toEqual(failed);
      const samples = failed.map((each) => `${protocol},${each.procedure ?? 'none'},${each.code} 1`);
      expect(started.samples('x_call_errors_total').toSorted()).toEqual(samples.toSorted());
      const operation = isBatch ? 'batch' : (procedure ?? 'none');
      const statusClass = `${Math.floor((started.records[0]?.status ?? 0) / 100)}xx`;
      expect(started.samples('x_requests_total')).toContain(`${protocol},${operation},${statusClass} 1`);
      const counted = new Map<string, number>();
      for (const { procedure: name = 'none' } of expected) counted.set(name, (counted.get(name) ?? 0) + 1);
      const calls = Array.from(counted, ([name, count]) => `${protocol},${name} ${count}`);
      expect(started.samples('x_calls_total').toSorted()).toEqual(calls.toSorted());
    },
  );
});

/** A call on a WebSocket has no key, so its record does not say whether it is a replay. */
const isWithKeys = (protocol: string) => (protocol === 'websocket' ? undefined : false);

describe.each(['REST', 'tRPC', 'MCP'])('over %s', (name) => {
  it.each([
    ['a success', 'fine', 'OK'],
    ['an error', 'sold', 'CONFLICT'],
  ])(
    '%s that is repeated for its idempotency key has the outcome of the first response',
    async (_, path, code) => {
      const started = await start();
      const way = ways[name];
      const key = { 'idempotency-key': 'once' };
      const first = await way?.call(started, path, {}, key);
      const repeated = (await way?.call(started, path, {}, key)) as string;
      expect(repeated.replace(',"_meta":{"io.github.trpc-gateway/replayed":true}', '')).toBe(first);
      await vi.waitFor(() => expect(started.records).toHaveLength(2));
      const outcome = [{ procedure: path, code }];
      const seen = [false, true].map((isReplay) => ({ isReplay, outcomes: outcome }));
      expect(started.settled).toMatchObject(seen);
      expect(started.completed).toMatchObject(seen);
      const callErrors = code === 'OK' ? undefined : outcome;
      expect(started.records).toMatchObject([false, true].map((isReplay) => ({ isReplay, callErrors })));
    },
  );
});

it.each(['REST', 'tRPC', 'MCP'])(
  'the repeat of a call that missed its deadline, and whose output is too large, has the code of that (over %s)',
  async (name) => {
    const started = await start();
    const call = () => ways[name]?.call(started, 'lateLarge', {}, { 'idempotency-key': 'late' });
    await call();
    expect(started.records).toMatchObject([{ limit: 'call-timeout' }]);
    waiting.pop()?.();
    const outcomesOf = (code: string) => [{ procedure: 'lateLarge', code }];
    await vi.waitFor(async () => {
      await call();
      expect(started.records.at(-1)).toMatchObject({ isReplay: true });
    });
    expect(started.records.at(-1)).toMatchObject({ callErrors: outcomesOf('PAYLOAD_TOO_LARGE') });
    expect(started.settled[0]).toMatchObject({ outcomes: outcomesOf('GATEWAY_TIMEOUT') });
    expect(started.settled.at(-1)).toMatchObject({
      isReplay: true,
      outcomes: outcomesOf('PAYLOAD_TOO_LARGE'),
    });
  },
);

it.each(['REST', 'tRPC', 'MCP'])(
  'a response that a procedure calls a repeat is one for policies and records, over %s',
  async (name) => {
    const started = await start();
    await ways[name]?.call(started, 'known', {});
    await vi.waitFor(() =>
      expect(started.records).toMatchObject([{ isReplay: true, callErrors: undefined }]),
    );
    const outcome = { procedure: 'known', code: 'OK' };
    expect(started.settled).toMatchObject([{ isReplay: true, outcomes: [outcome] }]);
  },
);

it.each<[what: string, request: (started: Started) => Promise<unknown>]>([
  ['REST', async ({ origin }) => (await fetch(`${origin}/v1/count`)).text()],
  [
    'tRPC',
    async ({ origin }) =>
      (await fetch(`${origin}/trpc/count`, { headers: { accept: 'text/event-stream' } })).text(),
  ],
  ['MCP', ({ origin }) => post(`${origin}/mcp`, tool('count', {}), { 'mcp-protocol-version': '2025-11-25' })],
  [
    'a WebSocket',
    async ({ origin, records }) => {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc`);
      onTestFinished(() => socket.close());
      await once(socket, 'open');
      socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path: 'count' } }));
      await vi.waitFor(() => expect(records).toHaveLength(2));
      records.shift();
    },
  ],
])('events that end with an error have no outcome before they end (%s)', async (_, request) => {
  const started = await start();
  await request(started);
  await vi.waitFor(() => expect(started.records).toHaveLength(1));
  const failed = [{ procedure: 'count', code: 'CONFLICT' }];
  expect(started.completed).toMatchObject([
    { isStream: true, outcomes: [{ procedure: 'count', code: undefined }] },
  ]);
  expect(started.settled).toMatchObject([{ outcomes: failed }]);
  expect(started.records).toMatchObject([{ isStream: true, callErrors: failed }]);
});

it('JSON lines whose client disconnects have no outcome for the calls that have not failed before', async () => {
  const started = await start();
  const client = new AbortController();
  const init = { method: 'POST', signal: client.signal, body: JSON.stringify({ 0: {}, 1: {} }) };
  const headers = { 'content-type': 'application/json', 'trpc-accept': 'application/jsonl' };
  const response = await fetch(`${started.origin}/trpc/sold,late?batch=1`, { ...init, headers });
  await response.body?.getReader().read();
  client.abort();
  await vi.waitFor(() => expect(started.records).toHaveLength(1));
  const sold = { procedure: 'sold', code: 'CONFLICT' };
  expect(started.settled).toMatchObject([{ outcomes: [sold, { procedure: 'late', code: undefined }] }]);
  expect(started.records).toMatchObject([{ callErrors: [sold] }]);
});
