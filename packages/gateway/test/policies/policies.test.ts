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
});

/** Serves the router for a tenant, which a header names. */
async function start() {
  const completed: unknown[] = [];
  const policy: Policy<unknown, { tenant: string }> = {
    admit({ data, request }) {
      if (request.header('x-tenant') !== 'red')
        return new TRPCError({ code: 'NOT_FOUND', message: 'There is no such tenant.' });
      data.tenant = 'red';
      return undefined;
    },
    complete: ({ data, procedures }, { status }) =>
      void completed.push([data.tenant, procedures.map(({ path }) => path), status]),
  };
  const shape = await startShape(router, {
    policies: [policy] as never,
    createContext: ({ data, response }) => ({ ...data, response }),
  });
  const { origin, server } = shape;
  const send = (path: string, { headers, ...init }: RequestInit = {}) =>
    server.fetch(`${origin}${path}`, { ...init, headers: { ...(headers as object), 'x-tenant': 'red' } });
  return { ...shape, completed, send };
}

describe('a policy that reads the tenant', () => {
  it.each([
    ['/v1/notes', {}],
    ['/trpc/list', {}],
    ['/trpc/list,list?batch=1', {}],
    ['/trpc/list?batch=1', { 'trpc-accept': 'application/jsonl' }],
  ])('createContext of GET %s with %j receives the tenant', async (path, headers) => {
    const { send } = await start();
    expect(await (await send(path, { headers })).text()).toContain('notes of red');
  });

  it('createContext of a WebSocket receives the tenant', async () => {
    const { socketTrpc } = await start();
    expect(await socketTrpc({ 'x-tenant': 'red' }).list.query()).toBe('notes of red');
  });

  it('complete sees the tenant, the procedures and the status of the response', async () => {
    const { completed, send } = await start();
    await send('/v1/notes', post({ text: 'a' }));
    await send('/trpc/add', post({ text: '' }));
    await send('/trpc/add,add?batch=1', post({ 0: { text: 'a' }, 1: { text: '' } }));
    expect(completed).toEqual([
      ['red', ['add'], 200],
      ['red', ['add'], 400],
      ['red', ['add', 'add'], 207],
    ]);
  });
});

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
