import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { oas31 } from 'zod-openapi';
import { type GatewayOptions, memoryState, type ResponseControls, type State } from '../index.ts';
import type { PolicyContext } from '../calls/policy.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import { bearer } from '../auth/schemes/bearer.ts';
import { testGateway } from '../testing/testGateway.ts';

interface Context {
  readonly response: ResponseControls;
  readonly key: string | undefined;
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

/** Creates a router of orders that records each run. */
function createOrders() {
  const runs: string[] = [];
  /** Promises that orders await, by item. */
  const gates = new Map<string, Promise<unknown>>();
  const router = t.router({
    order: t.procedure
      .meta({ idempotencyKey: 'optional', openapi: { method: 'POST', path: '/orders', successStatus: 201 } })
      .input(z.object({ item: z.string().min(1) }))
      .output(z.object({ run: z.int(), key: z.string().optional() }))
      .mutation(async ({ ctx, input: { item } }) => {
        const run = runs.push(item);
        ctx.response.header('x-run', String(run));
        await gates.get(item);
        if (item === 'broken') throw new Error(`Run ${run} failed.`);
        return { run, key: ctx.key };
      }),
    pay: t.procedure
      .meta({
        idempotencyKey: 'required',
        openapi: {
          method: 'PUT',
          path: '/orders/{id}/payment',
          in: { tenant: { in: 'header', name: 'X-Tenant' }, session: 'cookie', currency: 'query' },
        },
      })
      .input(
        z.object({
          id: z.string(),
          tenant: z.string().optional(),
          session: z.string().optional(),
          currency: z.string().optional(),
          amount: z.int().optional(),
        }),
      )
      .output(z.object({ run: z.int() }))
      .mutation(() => ({ run: runs.push('pay') })),
    scan: t.procedure
      .meta({
        idempotencyKey: 'optional',
        openapi: { method: 'POST', path: '/scans', contentTypes: ['multipart/form-data'] },
      })
      .input(z.object({ title: z.string(), page: z.file() }))
      .output(z.object({ run: z.int() }))
      .mutation(() => ({ run: runs.push('scan') })),
    stream: t.procedure
      .meta({
        idempotencyKey: 'optional',
        openapi: { method: 'POST', path: '/exports', produces: 'text/csv' },
      })
      .mutation(() => {
        runs.push('stream');
        return (async function* () {
          yield new TextEncoder().encode('a,b');
        })();
      }),
    // Only over tRPC.
    note: t.procedure
      .meta({ idempotencyKey: 'optional' })
      .input(z.object({ text: z.string() }))
      .mutation(() => ({ run: runs.push('note') })),
    fax: t.procedure
      .meta({ idempotencyKey: 'optional' })
      .input(z.instanceof(FormData))
      .mutation(() => ({ run: runs.push('fax') })),
    log: t.procedure.input(z.object({ text: z.string() })).mutation(() => ({ run: runs.push('log') })),
  });
  return { router, runs, gates };
}

type Router = ReturnType<typeof createOrders>['router'];
type Options = Partial<GatewayOptions<Router, { readonly name: string }>>;

async function start(options: Options = {}) {
  const { router, runs, gates } = createOrders();
  const gateway = await testGateway<Router, { readonly name: string }>(router, {
    authentication: bearer({ verify: (token) => ({ name: token.split('-')[0] ?? '' }) }),
    createContext: ({ idempotencyKey, response }) => ({ response, key: idempotencyKey }),
    onResponse() {},
    ...options,
  });
  const send = async (
    target: string,
    body: unknown,
    key?: string,
    {
      method = 'POST',
      signal,
      ...headers
    }: { readonly method?: string; readonly signal?: AbortSignal; [name: string]: unknown } = {},
  ) => {
    const isForm = body instanceof FormData;
    const response = await gateway.fetch(`http://localhost${target}`, {
      method,
      headers: {
        authorization: 'Bearer ada',
        ...(!isForm && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(headers as Record<string, string>),
      },
      ...(signal && { signal }),
      body: isForm ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: response.headers.get('content-type')?.includes('json') ? (JSON.parse(text) as unknown) : text,
      isReplayed: response.headers.get('idempotent-replayed') === 'true',
      headers: response.headers,
    };
  };
  const order = (item: string, key?: string, headers?: Record<string, string>) =>
    send('/v1/orders', { item }, key, headers);
  /** Starts the first call, which runs until its gate opens. */
  const hold = async (target: string, more?: { readonly signal: AbortSignal }) => {
    const gate = Promise.withResolvers<void>();
    gates.set('book', gate.promise);
    const first = send(target, { item: 'book' }, 'key-1', more);
    await expect.poll(() => runs).toHaveLength(1);
    return { first, gate };
  };
  return { send, order, hold, runs, gates, gateway };
}

describe('a mutation with idempotencyKey', () => {
  it('an idempotent mutation runs once over REST, and repeats replay its status, headers and body', async () => {
    const { order, runs } = await start();
    const first = await order('book', 'key-1');
    expect([first.status, first.body, first.isReplayed]).toEqual([201, { run: 1, key: 'key-1' }, false]);
    const repeat = await order('book', '"key-1"');
    expect([repeat.status, repeat.body, repeat.isReplayed]).toEqual([201, { run: 1, key: 'key-1' }, true]);
    const withoutOwn = ({ headers }: typeof first) =>
      [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'idempotent-replayed');
    expect(withoutOwn(repeat)).toEqual(withoutOwn(first));
    expect(repeat.headers.get('x-run')).toBe('1');
    expect(repeat.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(runs).toEqual(['book']);
  });

  it('a repeated key answers 422 over REST if any part of the input differs: path, query, header, cookie or body', async () => {
    const { order, send, runs } = await start();
    await order('book', 'key-1');
    expect(await order('pen', 'key-1')).toMatchObject({
      status: 422,
      body: {
        code: 'UNPROCESSABLE_CONTENT',
        message:
          'Idempotency-Key: was used with another input, or over another protocol. To repeat that call, send it again as it was; use a new key only for another action.',
      },
    });
    const pay = (target: string, body: object, headers: Record<string, string>) =>
      send(target, body, 'key-2', { method: 'PUT', ...headers });
    const right = { 'x-other': '1', 'x-tenant': 'a', cookie: 'session=s; theme=dark' };
    const target = '/v1/orders/1/payment?currency=EUR';
    expect((await pay(target, { amount: 5 }, right)).status).toBe(200);
    for (const [other, body, headers] of [
      ['/v1/orders/2/payment?currency=EUR', { amount: 5 }, right],
      ['/v1/orders/1/payment?currency=USD', { amount: 5 }, right],
      [target, { amount: 6 }, right],
      [target, { amount: 5 }, { ...right, 'x-tenant': 'b' }],
      [target, { amount: 5 }, { ...right, cookie: 'session=t' }],
    ] as const) {
      expect((await pay(other, body, headers)).status).toBe(422);
    }
    // Other headers, cookies and query parameters are not part of the input.
    const same = { ...right, 'x-other': '2', cookie: 'theme=light; session=s' };
    expect(await pay(`${target}&utm=1`, { amount: 5 }, same)).toMatchObject({
      status: 200,
      isReplayed: true,
    });
    expect(runs).toEqual(['book', 'pay']);
  });

  it('a repeated key answers 422 over tRPC for another input, and for the same input over the other protocol', async () => {
    const { order, send, runs } = await start();
    await send('/trpc/order', { item: 'book' }, 'key-1');
    expect((await send('/trpc/order', { item: 'pen' }, 'key-1')).status).toBe(422);
    expect((await order('book', 'key-1')).status).toBe(422);
    expect(runs).toEqual(['book']);
  });

  it('a repeated key answers 422 over tRPC for another input that createContext has read', async () => {
    const { send, runs } = await start({
      createContext: async ({ idempotencyKey, info, response }) => {
        await info?.calls[0]?.getRawInput();
        return { response, key: idempotencyKey };
      },
    });
    await send('/trpc/order', { item: 'book' }, 'key-1');
    expect((await send('/trpc/order', { item: 'pen' }, 'key-1')).status).toBe(422);
    expect((await send('/trpc/order', { item: 'book' }, 'key-1')).isReplayed).toBe(true);
    expect(runs).toEqual(['book']);
  });

  it('two forms are the same input if their entries and the names of their files are equal, whatever their boundaries', async () => {
    const { send, runs } = await start();
    const form = (text: string, name = 'page.txt') => {
      const data = new FormData();
      data.set('title', 'a');
      data.set('page', new File([text], name));
      return data;
    };
    for (const target of ['/v1/scans', '/trpc/fax']) {
      const key = `key of ${target}`.replaceAll(' ', '-');
      expect((await send(target, form('one'), key)).status).toBe(200);
      expect(await send(target, form('one'), key)).toMatchObject({ status: 200, isReplayed: true });
      expect((await send(target, form('two'), key)).status).toBe(422);
      expect((await send(target, form('one', 'other.txt'), key)).status).toBe(422);
    }
    expect(runs).toEqual(['scan', 'fax']);
  });

  it.each(['/v1/orders', '/trpc/order'])(
    'POST %s with a repeated key answers 409 with Retry-After while the first request is running',
    async (target) => {
      const { hold, send, runs } = await start();
      const { first, gate } = await hold(target);
      const second = await send(target, { item: 'book' }, 'key-1');
      expect([second.status, second.headers.get('retry-after')]).toEqual([409, '1']);
      expect((await send(target, { item: 'pen' }, 'key-1')).status).toBe(422);
      gate.resolve();
      expect((await first).isReplayed).toBe(false);
      expect((await send(target, { item: 'book' }, 'key-1')).isReplayed).toBe(true);
      expect(runs).toHaveLength(1);
    },
  );

  it('the same key of another caller or for another procedure is another key', async () => {
    const { order, send, runs } = await start();
    await order('book', 'key-1');
    await order('pen', 'key-1', { authorization: 'Bearer bob' });
    await send('/trpc/note', { text: 'a' }, 'key-1');
    expect(runs).toEqual(['book', 'pen', 'note']);
  });

  it('the state receives no credential, and the same caller for the responses of one credential only', async () => {
    const values: string[] = [];
    const callers: string[] = [];
    const state = memoryState();
    const { order } = await start({
      state: {
        ...state,
        add(...entry) {
          values.push(...entry.map(String));
          return state.add(...entry);
        },
        set(...entry) {
          values.push(...entry.map(String));
          callers.push(entry[3]);
          return state.set(...entry);
        },
        delete(...entry) {
          values.push(...entry);
          return state.delete(...entry);
        },
      },
    });
    const ada = { authorization: 'Bearer ada-secret' };
    for (const key of ['key-1', 'key-2']) await order('book', key, ada);
    await order('book', 'key-1', { authorization: 'Bearer bob-secret' });
    await order('broken', 'key-3', ada);
    expect(callers[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(callers).toEqual([callers[0], callers[0], expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(callers[2]).not.toBe(callers[0]);
    expect(values.filter((value) => /secret|bearer/i.test(value))).toEqual([]);
  });

  it('idempotency.caller identifies the caller independently of the credential', async () => {
    const { order, runs } = await start({ idempotency: { caller: ({ identity }) => identity?.name ?? '' } });
    await order('book', 'key-1', { authorization: 'Bearer ada-old' });
    const repeat = await order('book', 'key-1', { authorization: 'Bearer ada-new' });
    expect([repeat.isReplayed, runs]).toEqual([true, ['book']]);
  });

  it.each(['', '""', 'ü', 'a b', 'a\tb', '"a b"', '"a', '"a\\b"', 'a'.repeat(256), `"${'a'.repeat(256)}"`])(
    'the invalid Idempotency-Key %j answers 400',
    async (key) => {
      const { order, send, runs } = await start();
      expect((await order('book', key)).status).toBe(400);
      expect((await send('/trpc/order', { item: 'book' }, key)).status).toBe(400);
      expect(runs).toEqual([]);
    },
  );

  it('a missing required key answers 400 over REST, over tRPC and in a batch', async () => {
    const { send, runs } = await start();
    const missing =
      'Idempotency-Key: is required. Send a new UUID for each action, and the same one to repeat it.';
    expect(await send('/v1/orders/1/payment', {}, undefined, { method: 'PUT' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', message: missing },
    });
    expect(await send('/trpc/pay', { id: '1' })).toMatchObject({
      status: 400,
      body: { error: { message: missing } },
    });
    const calls = { 0: { id: '1' }, 1: { text: 'a' } };
    const alone =
      'Idempotency-Key: is not supported for batches. Send the call on its own, with httpLink instead of httpBatchLink.';
    expect(await send('/trpc/pay,log?batch=1', calls)).toMatchObject({
      status: 207,
      body: [{ error: { message: alone } }, { result: {} }],
    });
    expect(runs).toEqual(['log']);
    const withKey = await send('/trpc/pay?batch=1', { 0: { id: '1' } }, 'key');
    expect(withKey).toMatchObject({ status: 400, body: [{ error: { message: alone } }] });
    expect(runs).toEqual(['log']);
  });
});

describe('stored responses', () => {
  it('a streamed response is not stored, and repeats answer 409', async () => {
    const { send, runs } = await start();
    expect((await send('/v1/exports', undefined, 'key-1')).body).toBe('a,b');
    const repeat = await send('/v1/exports', undefined, 'key-1');
    expect(repeat).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('completed with 200') },
    });
    expect(repeat.headers.get('retry-after')).toBeNull();
    expect(runs).toEqual(['stream']);
  });

  it.each(['/v1/orders', '/trpc/order'])(
    'POST %s stores the response of a call after its client disconnected',
    async (target) => {
      const { hold, send, runs } = await start();
      const client = new AbortController();
      const { first, gate } = await hold(target, client);
      client.abort();
      await expect(first).rejects.toThrow('aborted');
      gate.resolve();
      await expect.poll(async () => (await send(target, { item: 'book' }, 'key-1')).isReplayed).toBe(true);
      expect(runs).toHaveLength(1);
    },
  );

  it('a response is replayed until idempotency.ttlMs has passed', async () => {
    const now = vi.spyOn(performance, 'now');
    const { order, runs } = await start({ idempotency: { ttlMs: 60_000 } });
    await order('book', 'key-1');
    now.mockReturnValue(performance.now() + 60_000);
    expect((await order('book', 'key-1')).isReplayed).toBe(false);
    expect(await order('book', 'key-1')).toMatchObject({ isReplayed: true, body: { run: 2 } });
    expect(runs).toHaveLength(2);
  });
});

describe('a call that exceeds its deadline', () => {
  const callTimeoutMs = 60_000;

  // The deadline passes when a test says so: on a busy machine the digests of a key alone took 250 ms.
  let passedMs = 0;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['clearTimeout', 'setTimeout'] });
    const now = performance.now.bind(performance);
    passedMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  });
  afterEach(() => void vi.useRealTimers());

  function passDeadline(): void {
    passedMs += callTimeoutMs;
    vi.advanceTimersByTime(callTimeoutMs);
  }

  /** Sends a call that runs until its gate opens, and lets its deadline pass. */
  async function sendLate(started: Awaited<ReturnType<typeof start>>, target: string) {
    const { first, gate } = await started.hold(target);
    passDeadline();
    expect((await first).status).toBe(504);
    return gate;
  }

  describe.each(['/v1/orders', '/trpc/order'])('POST %s', (target) => {
    it(`POST ${target} replays the result of a call that succeeded after its timeout`, async () => {
      const replayed: unknown[] = [];
      const settled = ({ isReplay, outcomes }: PolicyContext) =>
        void (isReplay && replayed.push(outcomes[0]?.code));
      const started = await start({ callTimeoutMs, policies: [{ settled }] });
      const gate = await sendLate(started, target);
      const early = await started.send(target, { item: 'book' }, 'key-1');
      expect([early.status, early.headers.get('retry-after')]).toEqual([409, '1']);
      gate.resolve();
      await expect
        .poll(async () => started.send(target, { item: 'book' }, 'key-1'))
        .toMatchObject({ status: target === '/v1/orders' ? 201 : 200, isReplayed: true });
      expect([started.runs.length, replayed]).toEqual([1, ['OK']]);
    });

    it(`POST ${target} with a repeated key answers 409 after a timeout, even if the first client disconnected before`, async () => {
      const { gateway, hold, send, runs } = await start({ callTimeoutMs });
      const client = new AbortController();
      const { first } = await hold(target, client);
      client.abort();
      await expect(first).rejects.toThrow('aborted');
      expect(gateway.callsInFlight()).toBe(1);
      passDeadline();
      expect(gateway.callsInFlight()).toBe(0);
      expect((await send(target, { item: 'book' }, 'key-1')).status).toBe(409);
      expect(runs).toHaveLength(1);
    });

    it(`POST ${target} with a repeated key runs again if the first call failed after its timeout`, async () => {
      const started = await start({ callTimeoutMs });
      const gate = await sendLate(started, target);
      started.gates.delete('book');
      gate.reject(new Error('The signal aborted.'));
      await expect
        .poll(async () => (await started.send(target, { item: 'book' }, 'key-1')).status)
        .toBe(target === '/v1/orders' ? 201 : 200);
      expect(started.runs).toHaveLength(2);
    });
  });

  it('a key stays reserved while its call may run, even if idempotency.ttlMs is shorter', async () => {
    const { hold, order, runs } = await start({ idempotency: { ttlMs: 20 } });
    const { first, gate } = await hold('/v1/orders');
    await sleep(30);
    expect((await order('book', 'key-1')).status).toBe(409);
    gate.resolve();
    await first;
    expect(runs).toHaveLength(1);
  });

  it('a repeated key answers 409 without Retry-After after the lease has ended, as after a crash of the process', async () => {
    const state = memoryState();
    /** The state with an expired lease. */
    const later: State = {
      ...state,
      add: async (...entry) => (await state.add(...entry))?.replace(/"runsUntil":\d+/, '"runsUntil":0'),
    };
    await sendLate(await start({ callTimeoutMs, state }), '/v1/orders');
    const { order, runs } = await start({ state: later });
    const repeat = await order('book', 'key-1');
    expect([repeat.status, repeat.headers.get('retry-after'), runs]).toEqual([409, null, []]);
    expect(repeat.body).toMatchObject({
      message:
        'Idempotency-Key: was used for a request that was interrupted, and whether it had an effect is unknown. Look for its effect first, and repeat it with a new key only if it had none.',
    });
  });
});

it('the document describes Idempotency-Key, whether it is required, its error statuses and Idempotent-Replayed', async () => {
  const { gateway } = await start();
  const { paths } = (await gateway.document()) as object as oas31.OpenAPIObject;
  const order = paths?.['/orders']?.post;
  expect(order?.parameters).toEqual([expect.objectContaining({ name: 'Idempotency-Key', in: 'header' })]);
  expect(order?.parameters?.[0]).not.toMatchObject({ required: true });
  expect(Object.keys(order?.responses ?? {})).toEqual(expect.arrayContaining(['400', '409', '422']));
  expect(order?.responses?.['201']).toHaveProperty('headers.Idempotent-Replayed');
  expect(paths?.['/orders/{id}/payment']?.put?.parameters).toContainEqual(
    expect.objectContaining({ name: 'Idempotency-Key', required: true }),
  );
});

it('createGateway rejects idempotencyKey on a procedure with a streamed body', async () => {
  const upload = t.procedure
    .meta({ idempotencyKey: 'optional', openapi: { method: 'POST', path: '/b' } })
    .input(z.instanceof(ReadableStream))
    .mutation(() => 'b');
  await expect(testGateway(t.router({ upload }))).rejects.toThrow('its body is a stream');
});
