import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { getUntypedClient } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditPolicy, router, tenantPolicy, type AuditEntry, type Tenant } from './policies.ts';
import { post, startShape } from '../startShape.ts';

async function start({ left = 100 } = {}) {
  const red: Tenant = { name: 'red', left };
  const log: (AuditEntry | 'response')[] = [];
  let isLogBroken = false;
  const shape = await startShape(router, {
    policies: [
      tenantPolicy(new Map([['red', red]])),
      auditPolicy(async (entry) => {
        await sleep(20);
        if (isLogBroken) throw new Error('The log is full.');
        log.push(entry);
      }),
    ] as never,
    createContext: ({ data }) => ({ tenant: (data as { tenant?: Tenant }).tenant?.name }),
    onResponse: () => void log.push('response'),
  });
  const headers = { 'x-tenant': 'red' };
  const { origin, server } = shape;
  return {
    ...shape,
    log,
    red,
    breakLog: () => void (isLogBroken = true),
    get: (path: string) => server.fetch(`${origin}${path}`, { headers }),
    add: (path: string, body: unknown) =>
      server.fetch(`${origin}${path}`, {
        ...post(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    /** Opens a WebSocket of the tenant. */
    open: () => shape.socketTrpc(headers),
  };
}

const lines = { 'trpc-accept': 'application/jsonl', 'x-tenant': 'red' };
const subscribe = (client: ReturnType<Awaited<ReturnType<typeof start>>['open']>) =>
  new Promise<readonly number[]>((resolve, reject) => {
    const values: number[] = [];
    client.changes.subscribe(undefined, {
      onData: (value) => void values.push(value),
      onComplete: () => resolve(values),
      onError: reject,
    });
  });

describe('a tenant from the host name with its own limit', () => {
  it('createContext receives the tenant over REST, tRPC, a batch and JSON lines', async () => {
    const { get, origin, server } = await start();
    expect(await (await get('/v1/notes')).json()).toBe('notes of red');
    expect(await (await get('/trpc/list')).json()).toEqual({ result: { data: 'notes of red' } });
    expect(await (await get('/trpc/list,list?batch=1')).json()).toMatchObject([
      { result: { data: 'notes of red' } },
      { result: { data: 'notes of red' } },
    ]);
    const streamed = await server.fetch(`${origin}/trpc/list?batch=1`, { headers: lines });
    expect(await streamed.text()).toContain('notes of red');
  });

  it('a request of an unknown tenant is rejected in the format of its protocol', async () => {
    const { restJson, origin, server } = await start();
    expect(await restJson('/notes')).toEqual([
      404,
      { code: 'NOT_FOUND', message: 'There is no such tenant.', status: 404 },
    ]);
    const response = await server.fetch(`${origin}/trpc/list`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { message: 'There is no such tenant.', data: { code: 'NOT_FOUND' } } },
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
    expect((await add('/v1/notes', { text: 'a' })).status).toBe(200);
    expect(log.splice(0)).toEqual([entry(200, 'add'), 'response']);
    expect((await add('/trpc/add', { text: 'a' })).status).toBe(200);
    expect((await add('/trpc/add', { text: '' })).status).toBe(400);
    expect(log.splice(0)).toEqual([entry(200, 'add'), 'response', entry(400, 'add'), 'response']);
    const batch = await add('/trpc/add,add?batch=1', { 0: { text: 'a' }, 1: { text: '' } });
    expect(batch.status).toBe(207);
    expect(log.splice(0)).toEqual([entry(207, 'add', 'add'), 'response']);
    await get('/v1/notes');
    await (await get('/v1/changes')).text();
    expect(log).toEqual(['response', 'response']);
  });

  it('a batch as JSON lines is logged before its first line', async () => {
    const { log, origin, server } = await start();
    const response = await server.fetch(`${origin}/trpc/add?batch=1`, {
      ...post({ 0: { text: 'a' } }),
      headers: { 'content-type': 'application/json', ...lines },
    });
    expect(log[0]).toEqual(entry(200, 'add'));
    expect(await response.text()).toContain('"a"');
  });

  it('a mutation whose log entry cannot be stored responds with 500', async () => {
    const { add, breakLog, log } = await start();
    breakLog();
    for (const path of ['/v1/notes', '/trpc/add']) {
      const response = await add(path, { text: 'a' });
      expect(response.status).toBe(500);
      expect(await response.text()).not.toContain('log');
    }
    expect(log).toEqual(['response', 'response']);
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
      createContext: () => ({ tenant: undefined }),
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

describe('a policy that waits', () => {
  const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();
  const late = t.router({
    late: t.procedure
      .meta({ openapi: { method: 'GET', path: '/late' } })
      .output(z.string())
      .query(({ ctx }) => {
        setTimeout(() => {
          ctx.response.status = 999;
          ctx.response.append('x-late', 'yes');
        }, 5);
        return 'sent';
      }),
  });
  const createContext = ({ response }: { readonly response: ResponseControls }) => ({ response });

  it('a response does not change while complete of a policy waits', async () => {
    const { rest } = await startShape(late, { createContext, policies: [{ complete: () => sleep(50) }] });
    const response = await rest('/late');
    expect([response.status, response.headers.get('x-late'), await response.json()]).toEqual([
      200,
      null,
      'sent',
    ]);
  });
});

it('complete of a policy sees a call of an unknown procedure on a WebSocket', async () => {
  const seen: unknown[] = [];
  const { socketTrpc } = await startShape(router, {
    createContext: () => ({ tenant: undefined }),
    policies: [
      { complete: ({ kind, procedures }, { status }) => void seen.push([kind, procedures.length, status]) },
    ],
  });
  const missing = getUntypedClient(socketTrpc()).query('missing');
  await expect(missing).rejects.toThrow('No "query"-procedure on path "missing"');
  expect(seen).toEqual([['call', 0, 404]]);
});
