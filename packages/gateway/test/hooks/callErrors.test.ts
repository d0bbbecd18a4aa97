import { setImmediate as nextTurn } from 'node:timers/promises';
import { initTRPC, TRPCError } from '@trpc/server';
import type { Policy, PolicyContext } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta, type ResponseControls } from 'trpc-gateway/procedures';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { call } from '@petstore/testing/mcpMessages';
import { callMessage, openSocket } from '../socketClient.ts';
import { post, startShape } from '../startShape.ts';

const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();
const errors = declareErrors({ OUT_OF_STOCK: { status: 409, message: 'None is left.' } });
const get = (path: `/${string}`) =>
  ({ openapi: { method: 'GET', path }, mcp: { description: 'A tool of the test.' } }) as const;
const read = (path: `/${string}`) => t.procedure.meta(get(path)).output(z.string());
const write = (path: `/${string}`) =>
  t.procedure.meta({
    openapi: { method: 'POST', path },
    mcp: { description: 'A tool of the test.' },
    idempotencyKey: 'optional',
  });
async function* failing() {
  yield Buffer.from('file');
  throw new TRPCError({ code: 'CONFLICT' });
}
/** The calls of `lateLarge` that run. */
const waiting: (() => void)[] = [];

const router = t.router({
  fine: read('/fine').query(() => 'fine'),
  broken: read('/broken').query(() => {
    throw new Error('disk on fire');
  }),
  gone: read('/gone').query(() => {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'It is gone.' });
  }),
  sold: read('/sold')
    .errors(errors)
    .query(() => {
      throw errors.OUT_OF_STOCK();
    }),
  positive: read('/positive')
    .input(z.object({ n: z.int().positive() }))
    .query(({ input }) => String(input.n)),
  large: read('/large').query(() => 'x'.repeat(5000)),
  late: read('/late').query(async () => new Promise<string>(() => {})),
  promised: t.procedure.query(() => ({ later: Promise.reject(new Error('disk on fire')) })),
  steps: t.procedure
    .meta({ openapi: { ...get('/steps').openapi, event: z.int() }, mcp: { description: 'Counts.' } })
    .subscription(async function* () {
      yield 1;
      throw new TRPCError({ code: 'CONFLICT', message: 'The steps are blocked.' });
    }),
  download: t.procedure
    .meta({ openapi: { method: 'GET', path: '/download', produces: 'text/plain' } })
    .query(failing),
  twoErrors: t.procedure.query(() => ({
    first: Promise.reject(new TRPCError({ code: 'CONFLICT' })),
    later: nextTurn().then(() => Promise.reject(new TRPCError({ code: 'NOT_FOUND' }))),
  })),
  /** A policy rejects it. */
  refused: read('/refused').query(() => 'never'),
  pay: write('/pay').mutation(() => 'paid'),
  taken: write('/taken').mutation(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'It is taken.' });
  }),
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
});

interface Outcome {
  readonly procedure: string | undefined;
  readonly code: string | undefined;
}

/** Serves the router with a policy, and collects what it sees in `complete` and in `settled`. */
async function start(
  limits: Parameters<typeof startShape<typeof router>>[1] = {
    trpc: { maxBatchSize: 7 },
    callTimeoutMs: 200,
    maxResponseSize: 4000,
  },
) {
  const reported: object[] = [];
  const completed: Outcome[][] = [];
  const settled: Outcome[][] = [];
  const contexts: PolicyContext[] = [];
  const outcomesIn = ({ kind, outcomes }: PolicyContext) =>
    kind === 'socket' ? [] : outcomes.map(({ code, procedure }) => ({ procedure: procedure?.path, code }));
  const policy: Policy = {
    admit: ({ procedures }) =>
      procedures.some(({ path }) => path === 'refused')
        ? new TRPCError({ code: 'FORBIDDEN', message: 'Not today.' })
        : undefined,
    complete: (context) => void completed.push(outcomesIn(context)),
    settled(context) {
      contexts.push(context);
      settled.push(outcomesIn(context));
    },
  };
  const { records, server } = await startShape(router, {
    mcp: mcp(),
    policies: [policy],
    routes: { '/cut': () => ({ status: 200, headers: [], body: failing() }) },
    ...limits,
    onError: ({ path = '', error: { code } }) =>
      void reported.push({ procedure: path in router._def.procedures ? path : undefined, code }),
  });
  return { records, reported, completed, contexts, settled, fetch: server.fetch, origin: server.origin };
}

type Started = Awaited<ReturnType<typeof start>>;

const http =
  (target: string, headers: object = {}, { headers: own, ...init }: RequestInit = {}) =>
  async ({ fetch, origin }: Started) =>
    (await fetch(`${origin}${target}`, { ...init, headers: { ...(own as object), ...headers } })).text();
const tool =
  (name: string, headers: object = {}) =>
  (started: Started) =>
    call(started, name, {}, { headers: { ...headers } });
const lines = { 'trpc-accept': 'application/jsonl' };
const broken = { procedure: 'broken', code: 'INTERNAL_SERVER_ERROR' };
const gone = { procedure: 'gone', code: 'NOT_FOUND' };
// Not the name that the client made up.
const unknown = { procedure: undefined, code: 'NOT_FOUND' };
const tooLarge = { procedure: 'large', code: 'PAYLOAD_TOO_LARGE' };
const timedOut = { procedure: 'late', code: 'GATEWAY_TIMEOUT' };
const blocked = { procedure: 'steps', code: 'CONFLICT' };
const failsLater = { procedure: 'promised', code: 'INTERNAL_SERVER_ERROR' };

const refused = { procedure: 'refused', code: 'FORBIDDEN' };
const cut = { procedure: 'download', code: 'CONFLICT' };

/** An error that belongs to no call. */
const whole = (code: string) => ({ procedure: undefined, code });

const byName = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).toSorted();

const tooMany = [...Array(7).fill('fine'), 'gone'].map((procedure) => ({ procedure, code: 'BAD_REQUEST' }));

it.each<
  [
    what: string,
    request: (started: Started) => Promise<unknown>,
    failed: readonly object[] | undefined,
    /** What `onError` receives, if that differs. */
    reported?: readonly object[],
  ]
>([
  ['REST: a success', http('/v1/fine'), undefined],
  ['REST: an unexpected error', http('/v1/broken'), [broken]],
  ['REST: an expected error', http('/v1/gone'), [gone]],
  ['REST: a declared error', http('/v1/sold'), [{ procedure: 'sold', code: 'CONFLICT' }]],
  ['REST: a rejected input', http('/v1/positive?n=0'), [{ procedure: 'positive', code: 'BAD_REQUEST' }]],
  ['REST: an output that is too large', http('/v1/large'), [tooLarge]],
  ['REST: a missed deadline', http('/v1/late'), [timedOut]],
  ['REST: a stream that fails', http('/v1/steps'), [blocked]],
  ['REST: a download that fails', http('/v1/download'), [cut]],
  ['REST: a call that a policy rejects', http('/v1/refused'), [refused], [whole('FORBIDDEN')]],
  ['REST: an unknown path', http('/v1/made-up'), [unknown]],
  ['tRPC: a success', http('/trpc/fine'), undefined],
  ['tRPC: an unexpected error', http('/trpc/broken'), [broken]],
  ['tRPC: an output that is too large', http('/trpc/large'), [tooLarge]],
  ['tRPC: an unknown procedure', http('/trpc/made-up'), [unknown]],
  [
    'tRPC: a batch',
    http('/trpc/broken,fine,made-up,gone,broken,large,late?batch=1'),
    [broken, unknown, gone, broken, tooLarge, timedOut],
  ],
  [
    'tRPC: a batch of too many calls',
    http('/trpc/fine,fine,fine,fine,fine,fine,fine,gone?batch=1'),
    tooMany,
    [whole('BAD_REQUEST')],
  ],
  [
    'tRPC: JSON lines',
    http('/trpc/broken,fine,made-up,gone,large,late,promised?batch=1', lines),
    [broken, unknown, gone, tooLarge, failsLater, timedOut],
    // As in tRPC, an error within an output is not that of its call.
    [broken, unknown, gone, whole('PAYLOAD_TOO_LARGE'), whole('INTERNAL_SERVER_ERROR'), timedOut],
  ],
  [
    'tRPC: JSON lines with two errors in one output',
    http('/trpc/twoErrors?batch=1', lines),
    [{ procedure: 'twoErrors', code: 'CONFLICT' }],
    [whole('CONFLICT'), whole('NOT_FOUND')],
  ],
  [
    'tRPC: a batch that a policy rejects',
    http('/trpc/fine,refused?batch=1'),
    [{ ...refused, procedure: 'fine' }, refused],
    [whole('FORBIDDEN')],
  ],
  ['tRPC: server-sent events that fail', http('/trpc/steps', { accept: 'text/event-stream' }), [blocked]],
  ['MCP: a success', tool('fine'), undefined],
  ['MCP: an unexpected error', tool('broken'), [broken]],
  ['MCP: an expected error', tool('gone'), [gone]],
  ['MCP: an output that is too large', tool('large'), [tooLarge]],
  ['MCP: a missed deadline', tool('late'), [timedOut]],
  ['MCP: a stream that fails', tool('steps'), [blocked]],
  ['MCP: a call that a policy rejects', tool('refused'), [refused]],
  ['MCP: an unknown tool', tool('made-up'), [unknown], []],
  ['a route', http('/openapi.json'), undefined],
  ['a route whose stream fails', http('/cut'), undefined, [whole('CONFLICT')]],
  ['an unknown path of no protocol', http('/made-up'), undefined, [whole('NOT_FOUND')]],
])(
  'the record of a request has the calls that failed, with their codes and without names that clients make up, onError receives their errors, and policies see their outcomes (%s)',
  async (_, request, failed, reported = failed ?? []) => {
    const started = await start();
    await request(started).catch(() => undefined);
    await vi.waitFor(() => expect(started.records).toHaveLength(1));
    const [record] = started.records;
    expect(byName(record?.callErrors ?? [])).toEqual(byName(failed ?? []));
    expect(byName(started.reported)).toEqual(byName(reported));
    const settled = started.settled.flat();
    expect(settled).toHaveLength(record?.calls ?? 0);
    expect(byName(settled.filter(({ code }) => code !== 'OK'))).toEqual(byName(failed ?? []));
    const completed = started.completed.flat();
    expect(record?.isStream ? settled : completed).toEqual(settled);
  },
);

it('the record of a call on a WebSocket says whether it failed, and its code, as policies see it', async () => {
  const started = await start();
  const { send } = openSocket(started);
  const paths = ['broken', 'fine', 'made-up', 'gone', 'large', 'refused', 'late'];
  send(paths.map((path, id) => callMessage(id, 'query', path)));
  send(callMessage(7, 'subscription', 'steps'));
  await vi.waitFor(() => expect(started.records).toHaveLength(9));
  const failed = started.records.flatMap(({ callErrors }) => callErrors ?? []);
  expect(byName(failed)).toEqual(byName([broken, unknown, gone, tooLarge, refused, blocked, timedOut]));
  expect(started.records.filter(({ callErrors }) => callErrors)).toHaveLength(7);
  const settled = started.settled.flat();
  expect(byName(settled)).toEqual(byName([...failed, { procedure: 'fine', code: 'OK' }]));
});

const denied = { procedure: 'fine', code: 'TOO_MANY_REQUESTS' };

it.each<[what: string, request: (started: Started) => Promise<unknown>, calls: readonly object[]]>([
  ['REST', http('/v1/fine'), [denied]],
  ['tRPC', http('/trpc/fine'), [denied]],
  [
    'tRPC: a batch',
    http('/trpc/fine,made-up,fine?batch=1'),
    [denied, denied, { ...denied, procedure: undefined }],
  ],
  ['tRPC: JSON lines', http('/trpc/fine?batch=1', lines), [denied]],
  ['MCP: a tool that the head names', tool('fine'), [denied]],
])(
  'the record of a request that is rejected before it is read has the calls that its head names (%s)',
  async (_, request, calls) => {
    const started = await start({ rateLimit: { calls: 3, windowMs: 3_600_000 } });
    const { records } = started;
    await http('/trpc/fine,fine,fine?batch=1')(started);
    await request(started);
    await vi.waitFor(() => expect(records).toHaveLength(2));
    const known = calls.filter((each) => 'procedure' in each && each.procedure !== undefined);
    expect(records[1]).toMatchObject({
      calls: calls.length,
      procedures: known.map(() => 'fine'),
      operation: known.map(() => 'fine').join(','),
      status: 429,
    });
    expect(records[1]?.callErrors).toEqual(calls);
  },
);

const keyed: Readonly<Record<string, typeof tool>> = {
  REST: (name, headers) => http(`/v1/${name}`, headers, post({})) as never,
  tRPC: (name, headers) => http(`/trpc/${name}`, headers, post({})) as never,
  MCP: tool,
};

describe.each(Object.entries(keyed))('over %s', (_way, calling) => {
  it.each([
    ['a success', { procedure: 'pay', code: 'OK' }],
    ['an error', { procedure: 'taken', code: 'CONFLICT' }],
  ])(
    '%s that is repeated for its idempotency key has the outcome of the first response',
    async (_, outcome) => {
      const started = await start();
      const send = calling(outcome.procedure, { 'idempotency-key': 'once' });
      for (let sent = 0; sent < 2; sent += 1) await send(started);
      await vi.waitFor(() => expect(started.records).toHaveLength(2));
      const both = [[outcome], [outcome]];
      expect([started.completed, started.settled]).toEqual([both, both]);
      const callErrors = outcome.code === 'OK' ? undefined : [outcome];
      const replays = [false, true].map((isReplay) => ({ isReplay, callErrors }));
      expect([started.records, started.contexts]).toMatchObject([
        replays,
        replays.map(({ isReplay }) => ({ isReplay })),
      ]);
    },
  );

  it('the repeat of a call that missed its deadline, and whose output is too large, has the code of that', async () => {
    const started = await start();
    const send = calling('lateLarge', { 'idempotency-key': 'late' });
    await send(started);
    expect(started.records).toMatchObject([{ limit: 'call-timeout' }]);
    waiting.pop()?.();
    await vi.waitFor(async () => {
      await send(started);
      expect(started.records.at(-1)).toMatchObject({ isReplay: true });
    });
    const outcomes = [{ procedure: 'lateLarge', code: 'PAYLOAD_TOO_LARGE' }];
    expect([started.records.at(-1)?.callErrors, started.settled.at(-1)]).toEqual([outcomes, outcomes]);
    // Policies that look later see the outcome of the deadline, though the late response cannot be sent.
    expect(started.contexts[0]?.outcomes).toMatchObject([{ code: 'GATEWAY_TIMEOUT' }]);
  });

  it('a response that a procedure calls a repeat is one for policies and records', async () => {
    const started = await start();
    await calling('known')(started);
    await vi.waitFor(() =>
      expect(started.records).toMatchObject([{ isReplay: true, callErrors: undefined }]),
    );
    expect(started.contexts).toMatchObject([{ isReplay: true }]);
    expect(started.settled).toEqual([[{ procedure: 'known', code: 'OK' }]]);
  });
});

it('events that end with an error, and JSON lines, have no outcome before they end', async () => {
  const started = await start();
  await http('/v1/steps')(started);
  await http('/trpc/gone,late?batch=1', lines)(started);
  await vi.waitFor(() => expect(started.records).toHaveLength(2));
  expect(started.contexts).toMatchObject([{ isStream: true }, { isStream: true }]);
  expect(started.completed).toMatchObject([
    [{ ...blocked, code: undefined }],
    [{ procedure: 'gone' }, { ...timedOut, code: undefined }],
  ]);
});

it('JSON lines whose client disconnects have no outcome for the calls that have not failed before', async () => {
  const started = await start({ callTimeoutMs: 60_000 });
  const client = new AbortController();
  const response = await started.fetch(`${started.origin}/trpc/gone,late?batch=1`, {
    signal: client.signal,
    headers: lines,
  });
  await response.body?.getReader().read();
  client.abort();
  await vi.waitFor(() => expect(started.records).toHaveLength(1));
  expect(started.settled).toEqual([[gone, { ...timedOut, code: undefined }]]);
  expect(started.records).toMatchObject([{ callErrors: [gone] }]);
});
