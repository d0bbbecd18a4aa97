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
    const response = await gateway.fetch(new Request(`http://localhost/trpc${target}`, init));
    return { response, status: response.status, records };
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

  it.each(['/closed', '/closed,closed?batch=1'])(
    'GET /trpc%s without a credential gets one unbatched envelope, because the credential is checked first',
    async (target) => {
      const { response } = await serve(target, {}, {}, () => undefined);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="api"');
      expect(await response.json()).toMatchObject({
        error: { code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
      });
    },
  );

  it.each<[when: string, init: RequestInit, meta: () => object, record: object]>([
    ['its response cannot be created', {}, () => ({ status: 204 }), { status: 500, isStream: false }],
    ['its client has left before it starts', { signal: AbortSignal.abort() }, () => ({}), { status: 499 }],
  ])('a subscription is closed if %s', async (_when, init, responseMeta, record) => {
    const events = (async function* () {
      yield 1;
    })();
    const onReturn = vi.spyOn(events, 'return');
    subscription = () => events;
    const { records } = await serve('/endless', init, { responseMeta });
    expect(records).toMatchObject([record]);
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
