import { initTRPC, TRPCError } from '@trpc/server';
import { getUntypedClient } from '@trpc/client';
import type { Policy, PolicyContext } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { call } from '@petstore/testing/mcpMessages';
import { has } from '../servers.ts';
import { post, type Shape, startShape } from '../startShape.ts';

// The codes of each kind of error over each protocol are those of request records: test/hooks/callErrors.

const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();
const write = (path: `/${string}`) =>
  t.procedure.meta({
    openapi: { method: 'POST', path },
    mcp: { description: 'A tool of the test.' },
    idempotencyKey: 'optional',
  });
/** The calls of `lateLarge` that run. */
const waiting: (() => void)[] = [];

const router = t.router({
  fine: write('/fine').mutation(() => 'fine'),
  sold: write('/sold').mutation(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'None is left.' });
  }),
  refused: write('/refused').mutation(() => 'never'),
  late: write('/late').mutation(() => new Promise<string>(() => {})),
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
    .meta({ openapi: { method: 'GET', path: '/count', event: z.int() } })
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

async function start(callTimeoutMs = 200) {
  const completed: Seen[] = [];
  const settled: Seen[] = [];
  const contexts: PolicyContext[] = [];
  const seenIn = ({ isReplay, isStream, outcomes }: PolicyContext): Seen => ({
    outcomes: outcomes.map(({ code, procedure }) => ({ procedure: procedure?.path, code })),
    isReplay,
    isStream,
  });
  const policy: Policy = {
    admit: ({ procedures }) =>
      procedures.some(({ path }) => path === 'refused')
        ? new TRPCError({ code: 'FORBIDDEN', message: 'Not today.' })
        : undefined,
    complete: (context) => void (context.kind !== 'socket' && completed.push(seenIn(context))),
    settled(context) {
      contexts.push(context);
      if (context.kind !== 'socket') settled.push(seenIn(context));
    },
  };
  const options = { mcp: mcp(), policies: [policy], callTimeoutMs, maxResponseSize: 4000 };
  const shape = await startShape(router, options);
  return {
    ...shape,
    completed,
    contexts,
    settled,
    calls: () => shape.records.filter(({ status }) => status !== 101),
  };
}

const posted =
  (pathOf: (name: string) => string, body: object = {}, more: object = {}) =>
  async ({ origin, server }: Pick<Shape, 'origin' | 'server'>, name: string, headers: object = {}) => {
    const { headers: own, ...init } = post(body);
    const all = { ...(own as object), ...more, ...headers };
    return (await server.fetch(`${origin}${pathOf(name)}`, { ...init, headers: all })).text();
  };
const batch = { 0: null, 1: null };
const lines = { 'trpc-accept': 'application/jsonl' };
const rest = posted((name) => `/v1/${name}`);
const trpc = posted((name) => `/trpc/${name}`);
const tools = async ({ server }: Pick<Shape, 'server'>, name: string, headers: object = {}) =>
  (await call(server, name, {}, { headers: { ...headers } })).text;
const alone = { REST: rest, tRPC: trpc, MCP: tools };

type Calling = (shape: Awaited<ReturnType<typeof start>>, name: string) => Promise<unknown>;
const ways: Readonly<Record<string, Calling>> = {
  ...alone,
  'a batch': posted((name) => `/trpc/fine,${name}?batch=1`, batch),
  ...(has('WebSockets') && {
    'a WebSocket': ({ socketTrpc }, name) =>
      getUntypedClient(socketTrpc())
        .mutation(name)
        .catch(() => undefined),
  }),
};

const fine = { procedure: 'fine', code: 'OK' };
const sold = { procedure: 'sold', code: 'CONFLICT' };
const late = { procedure: 'late', code: 'GATEWAY_TIMEOUT' };
const refused = { procedure: 'refused', code: 'FORBIDDEN' };
// Not the name that the client made up.
const unknown = { procedure: undefined, code: 'NOT_FOUND' };

describe.each(Object.entries(ways))('over %s', (way, calling) => {
  it.each([fine, sold, late, refused, unknown])(
    'policies see the outcome of a call before its response is sent: %j',
    async (outcome) => {
      const started = await start();
      await calling(started, outcome.procedure ?? 'madeUp');
      await vi.waitFor(() => expect(started.calls()).toHaveLength(1));
      // A policy rejects the whole request.
      const first = outcome === refused ? { ...fine, code: 'FORBIDDEN' } : fine;
      const outcomes = way === 'a batch' ? [first, outcome] : [outcome];
      const seen = [{ outcomes, isReplay: false }];
      expect([started.completed, started.settled]).toMatchObject([seen, seen]);
    },
  );
});

describe.each(Object.entries(alone))('over %s', (_way, calling) => {
  it.each([
    ['a success', fine],
    ['an error', sold],
  ])(
    '%s that is repeated for its idempotency key has the outcome of the first response',
    async (_, outcome) => {
      const started = await start();
      const key = { 'idempotency-key': 'once' };
      for (let sent = 0; sent < 2; sent += 1) await calling(started, outcome.procedure, key);
      await vi.waitFor(() => expect(started.records).toHaveLength(2));
      const seen = [false, true].map((isReplay) => ({ isReplay, outcomes: [outcome] }));
      expect([started.completed, started.settled]).toMatchObject([seen, seen]);
      const callErrors = outcome.code === 'OK' ? undefined : [outcome];
      expect(started.records).toMatchObject([false, true].map((isReplay) => ({ isReplay, callErrors })));
    },
  );

  it('the repeat of a call that missed its deadline, and whose output is too large, has the code of that', async () => {
    const started = await start();
    const send = () => calling(started, 'lateLarge', { 'idempotency-key': 'late' });
    await send();
    expect(started.records).toMatchObject([{ limit: 'call-timeout' }]);
    waiting.pop()?.();
    await vi.waitFor(async () => {
      await send();
      expect(started.records.at(-1)).toMatchObject({ isReplay: true });
    });
    const outcomes = [{ procedure: 'lateLarge', code: 'PAYLOAD_TOO_LARGE' }];
    expect(started.records.at(-1)).toMatchObject({ callErrors: outcomes });
    // Policies that look later see the outcome of the deadline, though the late response cannot be sent.
    expect(started.contexts[0]?.outcomes).toMatchObject([{ code: 'GATEWAY_TIMEOUT' }]);
    expect(started.settled.at(-1)).toMatchObject({ isReplay: true, outcomes });
  });

  it('a response that a procedure calls a repeat is one for policies and records', async () => {
    const started = await start();
    await calling(started, 'known');
    await vi.waitFor(() =>
      expect(started.records).toMatchObject([{ isReplay: true, callErrors: undefined }]),
    );
    expect(started.settled).toMatchObject([
      { isReplay: true, outcomes: [{ procedure: 'known', code: 'OK' }] },
    ]);
  });
});

it('events that end with an error, and JSON lines, have no outcome before they end', async () => {
  const started = await start();
  await (await started.rest('/count')).text();
  await posted((name) => `/trpc/sold,${name}?batch=1`, batch, lines)(started, 'late');
  await vi.waitFor(() => expect(started.records).toHaveLength(2));
  const count = { procedure: 'count', code: 'CONFLICT' };
  expect(started.completed).toMatchObject([
    { isStream: true, outcomes: [{ ...count, code: undefined }] },
    { isStream: true, outcomes: [{ procedure: 'sold' }, { ...late, code: undefined }] },
  ]);
  expect(started.settled).toMatchObject([{ outcomes: [count] }, { outcomes: [sold, late] }]);
});

it('JSON lines whose client disconnects have no outcome for the calls that have not failed before', async () => {
  const started = await start(60_000);
  const client = new AbortController();
  const { headers, ...init } = post(batch);
  const response = await started.server.fetch(`${started.origin}/trpc/sold,late?batch=1`, {
    ...init,
    signal: client.signal,
    headers: { ...(headers as object), ...lines },
  });
  await response.body?.getReader().read();
  client.abort();
  await vi.waitFor(() => expect(started.records).toHaveLength(1));
  expect(started.settled).toMatchObject([{ outcomes: [sold, { ...late, code: undefined }] }]);
  expect(started.records).toMatchObject([{ callErrors: [sold] }]);
});
