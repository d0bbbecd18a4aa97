import { initTRPC, TRPCError } from '@trpc/server';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { call } from '@petstore/testing/mcpMessages';
import { callMessage, openSocket } from '../socketClient.ts';
import { startShape } from '../startShape.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const errors = declareErrors({ OUT_OF_STOCK: { status: 409, message: 'None is left.' } });
const get = (path: `/${string}`) =>
  ({ openapi: { method: 'GET', path }, mcp: { description: 'A tool of the test.' } }) as const;
const read = (path: `/${string}`) => t.procedure.meta(get(path)).output(z.string());

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
});

async function start(
  limits: Parameters<typeof startShape<typeof router>>[1] = {
    trpc: { maxBatchSize: 7 },
    callTimeoutMs: 200,
    maxResponseSize: 4000,
  },
) {
  const reported: object[] = [];
  const { records, server } = await startShape(router, {
    mcp: mcp(),
    ...limits,
    onError: ({ path = '', error: { code } }) =>
      void reported.push({ procedure: path in router._def.procedures ? path : undefined, code }),
  });
  return { records, reported, fetch: server.fetch, origin: server.origin };
}

type Started = Awaited<ReturnType<typeof start>>;

const http =
  (target: string, headers: Record<string, string> = {}) =>
  async ({ fetch, origin }: Started) =>
    (await fetch(`${origin}${target}`, { headers })).text();
const tool = (name: string) => (started: Started) => call(started, name, {});
const lines = { 'trpc-accept': 'application/jsonl' };
const broken = { procedure: 'broken', code: 'INTERNAL_SERVER_ERROR' };
const gone = { procedure: 'gone', code: 'NOT_FOUND' };
// Not the name that the client made up.
const unknown = { procedure: undefined, code: 'NOT_FOUND' };
const tooLarge = { procedure: 'large', code: 'PAYLOAD_TOO_LARGE' };
const timedOut = { procedure: 'late', code: 'GATEWAY_TIMEOUT' };
const blocked = { procedure: 'steps', code: 'CONFLICT' };
const failsLater = { procedure: 'promised', code: 'INTERNAL_SERVER_ERROR' };

/** An error that belongs to no call. */
const whole = (code: string) => ({ procedure: undefined, code });

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
  ['tRPC: server-sent events that fail', http('/trpc/steps', { accept: 'text/event-stream' }), [blocked]],
  ['MCP: a success', tool('fine'), undefined],
  ['MCP: an unexpected error', tool('broken'), [broken]],
  ['MCP: an expected error', tool('gone'), [gone]],
  ['MCP: an output that is too large', tool('large'), [tooLarge]],
  ['MCP: a missed deadline', tool('late'), [timedOut]],
  ['MCP: a stream that fails', tool('steps'), [blocked]],
  ['MCP: an unknown tool', tool('made-up'), [unknown], []],
  ['a route', http('/openapi.json'), undefined],
  ['an unknown path of no protocol', http('/made-up'), undefined, [whole('NOT_FOUND')]],
])(
  'the record of a request has the calls that failed, with their codes and without names that clients make up, and onError receives their errors (%s)',
  async (_, request, failed, reported = failed ?? []) => {
    const started = await start();
    await request(started);
    await vi.waitFor(() => expect(started.records).toHaveLength(1));
    const [record] = started.records;
    const byName = (list: readonly object[] | undefined) =>
      list?.map((each) => JSON.stringify(each)).toSorted();
    expect(byName(record?.callErrors)).toEqual(byName(failed));
    expect(byName(started.reported)).toEqual(byName(reported));
  },
);

it('the record of a call on a WebSocket says whether it failed, and its code', async () => {
  const started = await start();
  const paths = ['broken', 'fine', 'made-up', 'gone', 'large', 'late'];
  openSocket(started).send(paths.map((path, id) => callMessage(id, 'query', path)));
  await vi.waitFor(() => expect(started.records).toHaveLength(7));
  const failed = started.records.flatMap(({ callErrors }) => callErrors ?? []);
  expect(failed).toEqual([broken, unknown, gone, tooLarge, timedOut]);
  expect(started.records.filter(({ callErrors }) => callErrors)).toHaveLength(5);
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
