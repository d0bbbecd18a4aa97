import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from 'trpc-gateway';
import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { post, startShape } from '../startShape.ts';

const t = initTRPC
  .context<{ readonly tenant?: string | undefined; readonly response: ResponseControls }>()
  .meta<GatewayMeta>()
  .create();

const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .output(z.string())
    .query(({ ctx }) => `notes of ${ctx.tenant}`),
  add: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes' } })
    .input(z.object({ text: z.string().min(1) }))
    .output(z.string())
    .mutation(({ input }) => input.text),
  changes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/changes', event: z.int() } })
    .subscription(async function* changes() {
      yield 1;
      yield 2;
    }),
});

/** A tenant, with the number of calls that are left. */
interface Tenant {
  readonly name: string;
  left: number;
}

/** Finds the tenant by a header, and counts its calls. */
const tenantPolicy = (red: Tenant): Policy<unknown, { tenant: Tenant }> => ({
  admit({ data, kind, procedures, request }) {
    // A call on a WebSocket has the tenant of its socket.
    if (kind !== 'call') {
      if (request.header('x-tenant') !== red.name)
        return new TRPCError({ code: 'NOT_FOUND', message: 'There is no such tenant.' });
      data.tenant = red;
    }
    const { tenant } = data;
    if (tenant === undefined || kind === 'socket') return undefined;
    if (tenant.left < procedures.length) {
      const cause = Object.assign(new Error('The limit of a tenant'), { retryAfterSeconds: 30 });
      return new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'red has no calls left.', cause });
    }
    tenant.left -= procedures.length;
    return undefined;
  },
});

/** Serves the router with a limit for its tenant, and an audit log of mutations that is stored before the response. */
async function start({ left = 100 } = {}) {
  const red: Tenant = { name: 'red', left };
  const log: unknown[] = [];
  let isLogBroken = false;
  const auditPolicy: Policy<unknown, { tenant: Tenant }> = {
    async complete({ data, procedures }, { status }) {
      if (!procedures.some(({ type }) => type === 'mutation')) return;
      await sleep(20);
      if (isLogBroken) throw new Error('The log is full.');
      log.push({ calls: procedures.map(({ path }) => path), status, tenant: data.tenant?.name });
    },
  };
  const shape = await startShape(router, {
    policies: [tenantPolicy(red), auditPolicy] as never,
    createContext: ({ data, response }) => ({
      tenant: (data as { tenant?: Tenant }).tenant?.name,
      response,
    }),
    onResponse: () => void log.push('response'),
  });
  const headers = { 'x-tenant': 'red' };
  const { origin, server } = shape;
  const send = (path: string, init: RequestInit = {}, more: object = {}) => {
    const all = { ...(init.headers as object), ...headers, ...more };
    return server.fetch(`${origin}${path}`, { ...init, headers: all });
  };
  return {
    ...shape,
    log,
    red,
    breakLog: () => void (isLogBroken = true),
    get: (path: string, more: object = {}) => send(path, {}, more),
    add: (path: string, body: unknown, more: object = {}) => send(path, post(body), more),
    /** Opens a WebSocket of the tenant. */
    open: () => shape.socketTrpc(headers),
  };
}

const lines = { 'trpc-accept': 'application/jsonl' };
const subscribe = (client: ReturnType<Awaited<ReturnType<typeof start>>['open']>) =>
  new Promise<readonly number[]>((resolve, reject) => {
    const values: number[] = [];
    client.changes.subscribe(undefined, {
      onData: (value) => void values.push(value),
      onComplete: () => resolve(values),
      onError: reject,
    });
  });

describe('a tenant with its own limit', () => {
  it.each([
    ['/v1/notes', {}],
    ['/trpc/list', {}],
    ['/trpc/list,list?batch=1', {}],
    ['/trpc/list?batch=1', lines],
  ])('createContext of GET %s with %j receives the tenant', async (path, headers) => {
    const { get } = await start();
    expect(await (await get(path, headers)).text()).toContain('notes of red');
  });

  it('a request of an unknown tenant is rejected in the format of its protocol', async () => {
    const { restJson, origin, server } = await start();
    const message = 'There is no such tenant.';
    expect(await restJson('/notes')).toEqual([404, { code: 'NOT_FOUND', message, status: 404 }]);
    const response = await server.fetch(`${origin}/trpc/list`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { message, data: { code: 'NOT_FOUND' } } },
    ]);
  });

  it('each call of a batch counts, and a request over the limit gets 429 with Retry-After', async () => {
    const { get, red } = await start({ left: 3 });
    expect((await get('/trpc/list,list?batch=1')).status).toBe(200);
    expect(red.left).toBe(1);
    for (const path of ['/trpc/list,list?batch=1', '/trpc/list,nowhere,list?batch=1']) {
      const rejected = await get(path);
      expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '30']);
    }
    expect((await get('/v1/notes')).status).toBe(200);
    expect((await get('/v1/changes')).status).toBe(429);
  });

  it('each call on a WebSocket counts for the tenant of its socket', async () => {
    const { open, red } = await start({ left: 2 });
    const client = open();
    expect(await client.list.query()).toBe('notes of red');
    expect(red.left).toBe(1);
    expect(await subscribe(client)).toEqual([1, 2]);
    await expect(client.list.query()).rejects.toThrow('red has no calls left.');
    await expect(subscribe(client)).rejects.toThrow('red has no calls left.');
  });
});

describe('an audit log that is stored before the response', () => {
  const entry = (status: number, ...calls: string[]) => ({ calls, status, tenant: 'red' });

  it('the response to a mutation waits for the log; other requests are not logged', async () => {
    const { add, get, log } = await start();
    await add('/v1/notes', { text: 'a' });
    await add('/trpc/add', { text: '' });
    await add('/trpc/add,add?batch=1', { 0: { text: 'a' }, 1: { text: '' } });
    const entries = [entry(200, 'add'), entry(400, 'add'), entry(207, 'add', 'add')];
    expect(log.splice(0)).toEqual(entries.flatMap((each) => [each, 'response']));
    await get('/v1/notes');
    await (await get('/v1/changes')).text();
    expect(log).toEqual(['response', 'response']);
  });

  it('a batch as JSON lines is logged before its first line', async () => {
    const { add, log } = await start();
    const response = await add('/trpc/add?batch=1', { 0: { text: 'a' } }, lines);
    expect(log[0]).toEqual(entry(200, 'add'));
    expect(await response.text()).toContain('"a"');
  });

  it('each mutation on a WebSocket is logged before its result is sent', async () => {
    const { breakLog, log, open } = await start();
    const client = open();
    await client.list.query();
    log.length = 0;
    expect(await client.add.mutate({ text: 'a' })).toBe('a');
    await expect(client.add.mutate({ text: '' })).rejects.toThrow('Too small');
    expect(log).toEqual([entry(200, 'add'), 'response', entry(400, 'add'), 'response']);
    breakLog();
    await expect(client.add.mutate({ text: 'a' })).rejects.toThrow('Internal server error');
  });
});

it.each<[what: string, stream: (started: Awaited<ReturnType<typeof startShape>>) => Promise<unknown>]>([
  ['events over REST', async ({ rest }) => (await rest('/changes')).text()],
  [
    'events of tRPC',
    async ({ origin, server }) =>
      (await server.fetch(`${origin}/trpc/changes`, { headers: { accept: 'text/event-stream' } })).text(),
  ],
  ['a subscription on a WebSocket', ({ socketTrpc }) => subscribe(socketTrpc() as never)],
])(
  'the record of a stream waits for settled of a policy, and has its error if it fails (%s)',
  async (_, stream) => {
    const failure = new Error('The log is full.');
    const steps: unknown[] = [];
    const started = await startShape(router, {
      policies: [
        {
          async settled({ outcomes, procedures }) {
            if (procedures.length === 0) return;
            await sleep(20);
            steps.push(outcomes.map(({ code }) => code));
            throw failure;
          },
        },
      ],
      onResponse: ({ error, status }) => void (status === 101 || steps.push((error as Error).cause)),
    });
    await stream(started);
    await expect.poll(() => steps).toEqual([['OK'], failure]);
  },
);

it('a response does not change while complete of a policy waits', async () => {
  const late = t.procedure.meta({ openapi: { method: 'GET', path: '/late' } }).query(({ ctx }) => {
    setTimeout(() => {
      ctx.response.status = 999;
      ctx.response.append('x-late', 'yes');
    }, 5);
    return 'sent';
  });
  const { rest } = await startShape(t.router({ late }), { policies: [{ complete: () => sleep(50) }] });
  const response = await rest('/late');
  expect([response.status, response.headers.get('x-late'), await response.json()]).toEqual([
    200,
    null,
    'sent',
  ]);
});
