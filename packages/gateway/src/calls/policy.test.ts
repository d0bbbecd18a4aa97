import { setImmediate as nextTurn } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import type { RequestRecord } from './requestRecord.ts';
import type { Policy } from './policy.ts';
import { t, testGateway } from '../testing/testGateway.ts';

const router = t.router({
  read: t.procedure.meta({ openapi: { method: 'GET', path: '/read' } }).query(() => 'read'),
  write: t.procedure.meta({ openapi: { method: 'POST', path: '/write' } }).mutation(() => 'written'),
});
const page = [['content-type', 'text/plain']] as const;

async function start(...policies: readonly Policy[]) {
  const records: RequestRecord[] = [];
  const gateway = await testGateway(router, {
    policies,
    routes: { '/page': () => ({ status: 200, headers: page, body: 'page' }) },
    onResponse: (record) => records.push(record),
  });
  return {
    gateway,
    records,
    send: (path: string, init?: RequestInit) => gateway.fetch(`http://localhost${path}`, init),
  };
}

describe('admit', () => {
  it('complete of every policy may replace the response of a request that admit has rejected', async () => {
    const { send } = await start(
      {
        before: 'authentication',
        admit: ({ request: { path } }) =>
          path.includes('gone') ? new TRPCError({ code: 'NOT_FOUND' }) : undefined,
        complete({ request: { path } }, response) {
          if (!path.includes('gone')) return;
          response.status = 410;
          response.header('content-type', 'text/plain');
          response.body = 'gone';
        },
      },
      { complete: (_context, response) => response.header('X-Served-By', 'books-1') },
    );
    for (const path of ['/v1/gone', '/trpc/gone', '/gone']) {
      const gone = await send(path);
      expect([gone.status, await gone.text(), gone.headers.get('x-served-by')]).toEqual([
        410,
        'gone',
        'books-1',
      ]);
      expect(gone.headers.get('x-request-id')).toBeTruthy();
    }
    expect((await send('/v1/read')).status).toBe(200);
  });

  it('the first policy that rejects ends the request, and policies before authentication run first', async () => {
    const seen: string[] = [];
    const names = (name: string, before?: 'authentication'): Policy => ({
      ...(before && { before }),
      admit: () => void seen.push(name),
    });
    const { send } = await start(
      names('third'),
      names('first', 'authentication'),
      names('second', 'authentication'),
      { admit: async () => new TRPCError({ code: 'CONFLICT' }) },
      names('never'),
    );
    expect((await send('/v1/read')).status).toBe(409);
    expect(seen).toEqual(['first', 'second', 'third']);
  });

  it('only policies before authentication see routes, and none sees OPTIONS', async () => {
    const early = vi.fn();
    const late = vi.fn();
    const { send } = await start({ before: 'authentication', admit: early }, { admit: late });
    await send('/page');
    await send('/v1/read', { method: 'OPTIONS' });
    expect([early.mock.calls.length, late.mock.calls.length]).toEqual([1, 0]);
    expect(early.mock.calls).toMatchObject([[{ kind: 'request', protocol: 'other', procedures: [] }]]);
  });
});

it.each<[what: string, admit: () => unknown]>([
  ['null', () => null],
  ['a promise of null', async () => null],
])('a request is admitted if admit returns %s', async (_what, admit) => {
  const { send } = await start({ admit } as Policy);
  expect((await send('/v1/read')).status).toBe(200);
});

it('a response waits for settled of every policy, though one of them has failed, and is a 500', async () => {
  const order: string[] = [];
  const settled = async () => {
    for (let turns = 0; turns < 10; turns += 1) await nextTurn();
    order.push('settled');
  };
  const { send } = await start(
    { settled: () => Promise.reject(new Error('The audit log is full.')) },
    { settled },
    { settled },
  );
  const { status } = await send('/v1/write', { method: 'POST' });
  order.push(String(status));
  expect(order).toEqual(['settled', 'settled', '500']);
});

describe('complete', () => {
  it.each<[what: string, complete: NonNullable<Policy['complete']>]>([
    ['sets an invalid body', (_context, response) => void (response.body = { a: 1 } as never)],
    ['sets an invalid header', (_context, response) => response.header('x', 'a\nb')],
    ['sets the status 199', (_context, response) => void (response.status = 199)],
    ['sets the status 600', (_context, response) => void (response.status = 600)],
    [
      'sets an invalid status later',
      async (_context, response) => {
        await Promise.resolve();
        response.status = 99;
      },
    ],
  ])('a response is a 500 with the headers of the gateway if complete %s', async (_what, complete) => {
    const { records, send } = await start(
      { complete: (_context, response) => response.header('x-first', '1') },
      { complete },
    );
    for (const path of ['/v1/read', '/trpc/read', '/page']) {
      const response = await send(path);
      expect(await response.json()).toEqual({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'Internal server error',
        status: 500,
      });
      expect([response.status, response.headers.get('x-first')]).toEqual([500, null]);
      expect(response.headers.get('x-request-id')).toBeTruthy();
    }
    expect(records.map(({ status }) => status)).toEqual([500, 500, 500]);
  });

  it.each<[how: string, complete: NonNullable<Policy['complete']>, sent: [number, string]]>([
    ['replaces', (_context, response) => void (response.body = 'replaced'), [200, 'replaced']],
    ['removes by a status without a body', (_context, response) => void (response.status = 204), [204, '']],
  ])('a stream that a policy %s is closed', async (_how, complete, sent) => {
    const closed = vi.fn();
    const stream = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}), return: closed }),
    };
    const { fetch } = await testGateway(router, {
      policies: [{ complete }],
      routes: { '/stream': () => ({ status: 200, headers: [], body: stream as never }) },
    });
    const response = await fetch('http://localhost/stream');
    expect([response.status, await response.text()]).toEqual(sent);
    expect(closed).toHaveBeenCalledOnce();
  });
});

it.each<[policies: unknown, message: string]>([
  [{}, 'policies is {}; it must be a list'],
  [['cors'], 'policies[0] takes an object of options, not "cors".'],
  [[{ admits() {} }], '"admits" is not an option of policies[0]; did you mean "admit"?'],
  [[{ admit: true }], 'policies[0].admit is true; it must be a function.'],
  [[{ admit() {}, before: 'cors' }], `policies[0].before is "cors"; it must be 'authentication'.`],
])('createGateway rejects policies: %j', async (policies, message) => {
  await expect(testGateway(router, { policies: policies as never })).rejects.toThrow(message);
});
