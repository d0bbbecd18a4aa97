import { initTRPC } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { GatewayOptions } from '../../assembly/options.ts';
import type { RequestRecord } from '../../calls/requestRecord.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { bearer } from '../../auth/schemes/bearer.ts';
import { testGateway } from '../../testing/testGateway.ts';

describe('policies and records of tRPC requests', () => {
  let subscription = (): AsyncIterable<number> => (async function* () {})();
  const t = initTRPC.meta<GatewayMeta>().create();
  const openapi = { method: 'POST', path: '/open', protect: false } as const;
  const router = t.router({
    open: t.procedure
      .meta({ openapi })
      .output(z.string())
      .mutation(() => 'open'),
    closed: t.procedure.query(() => 'closed'),
    endless: t.procedure.subscription(() => subscription()),
  });
  const serve = async (
    target: string,
    init: RequestInit = {},
    trpc: GatewayOptions<typeof router, unknown>['trpc'] = {},
    verify?: () => undefined,
  ) => {
    const records: RequestRecord[] = [];
    const gateway = await testGateway(router, {
      trpc,
      ...(verify && { authentication: bearer({ verify }) }),
      onResponse: (record) => records.push(record),
    });
    const { status } = await gateway.fetch(new Request(`http://localhost/trpc${target}`, init));
    return { status, records };
  };

  it('the record of a batch that is too large lists known procedures only', async () => {
    const trpc = { maxBatchSize: 2 };
    const { records } = await serve('/closed,any,closed?batch=1', {}, trpc);
    expect(records).toMatchObject([{ procedures: ['closed', 'closed'], calls: 3, limit: 'batch-size' }]);
  });

  it.each([
    ['POST', '/open', 'text/plain', 415],
    ['POST', '/open', 'application/json', 200],
    ['POST', '/closed', 'text/plain', 401],
    ['POST', '/%zz', 'application/json', 401],
  ])(
    '%s /trpc%s with the content type %s and without a credential responds with %i',
    async (method, target, type, status) => {
      const init = { method, headers: { 'content-type': type } };
      expect(await serve(target, init, {}, () => undefined)).toMatchObject({ status });
    },
  );

  it('a subscription is closed if its response cannot be created', async () => {
    const events = (async function* () {
      yield 1;
    })();
    const onReturn = vi.spyOn(events, 'return');
    subscription = () => events;
    const { records } = await serve('/endless', {}, { responseMeta: () => ({ status: 204 }) });
    expect(records).toMatchObject([{ status: 500, isStream: false }]);
    expect(onReturn).toHaveBeenCalledOnce();
  });
});

it('info of createContext has the same own members as in tRPC, without credentials', async () => {
  const seen: unknown[] = [];
  const t = initTRPC.create();
  const { fetch } = await testGateway(t.router({ hello: t.procedure.query(() => 'world') }), {
    createContext({ info }) {
      seen.push(info && JSON.parse(JSON.stringify({ ...info })));
      return {};
    },
  });
  const headers = { authorization: 'Bearer secret' };
  const query = `connectionParams=${encodeURIComponent('{"a":"b"}')}`;
  await fetch(new Request(`http://localhost/trpc/hello?${query}`, { headers }));
  expect(seen).toEqual([{ accept: null, connectionParams: { a: 'b' }, isBatchCall: false, type: 'query' }]);
});

describe('errors that cannot be encoded', () => {
  const serialize = () => {
    throw new Error('The transformer broke.');
  };
  const same = (value: unknown) => value;
  const transformer = {
    input: { serialize: same, deserialize: same },
    output: { serialize, deserialize: same },
  };
  it.each([
    ['an errorFormatter that returns a bigint', { errorFormatter: () => ({ size: 1n }) as never }],
    ['an errorFormatter that returns nothing', { errorFormatter: () => undefined as never }],
    ['a transformer that fails with every output', { transformer }],
  ])(
    'an asynchronous call that fails responds with a generic 500 if the router has %s',
    async (_description, config) => {
      const t = initTRPC.create({ ...config });
      const router = t.router({
        broken: t.procedure.query(async () => {
          await new Promise(setImmediate);
          throw new Error('secret');
        }),
      });
      const { fetch } = await testGateway(router, { onResponse: () => {} });
      for (const target of ['/broken', '/broken,broken?batch=1']) {
        const response = await fetch(new Request(`http://localhost/trpc${target}`));
        const hidden = { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 };
        expect([response.status, await response.json()]).toEqual([
          500,
          { error: { code: -32603, message: 'Internal server error', data: hidden } },
        ]);
      }
    },
  );
});
