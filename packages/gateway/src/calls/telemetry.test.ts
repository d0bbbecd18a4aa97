import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { RequestRecord } from './requestRecord.ts';
import type { ObservedRequest, Telemetry } from './telemetry.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{id}' } })
    .input(z.object({ id: z.string() }))
    .output(z.string())
    .query(async ({ input }) => input.id),
  list: t.procedure.query(() => []),
  hurried: t.procedure.meta({ callTimeoutMs: 1000 }).query(async () => 'done'),
  missing: t.procedure.query(() => {
    throw new TRPCError({ code: 'NOT_FOUND' });
  }),
});

const trace = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };

async function start(publicUrl?: string) {
  const requests: ObservedRequest[] = [];
  const events: string[] = [];
  const records: RequestRecord[] = [];
  const telemetry: Telemetry = {
    begin(observed) {
      requests.push(observed);
      return {
        trace,
        run: (run) => run(),
        call(path) {
          events.push(`begin ${path}`);
          return {
            trace: undefined,
            run: (run) => run(),
            end: (error) => events.push(`end ${path} ${error?.code ?? 'ok'}`),
          };
        },
        end: ({ status }) => events.push(`end ${status}`),
      };
    },
  };
  const { fetch } = await testGateway(router, {
    ...(publicUrl !== undefined && { publicUrl }),
    onResponse: (record) => records.push(record),
    telemetry,
  });
  const get = async (target: string, headers = {}) =>
    (await fetch(`http://localhost${target}`, { headers, remoteAddress: '192.0.2.1' })).text();
  return { get, requests, events, records };
}

const lines = { 'trpc-accept': 'application/jsonl' };

it.each<[target: string, headers: object, calls: readonly [path: string, outcome: string][], status: number]>(
  [
    ['/v1/pets/7', {}, [['get', 'ok']], 200],
    ['/trpc/list', {}, [['list', 'ok']], 200],
    ['/trpc/missing', {}, [['missing', 'NOT_FOUND']], 404],
    ['/trpc/hurried', {}, [['hurried', 'ok']], 200],
    [
      '/trpc/list,hurried,missing?batch=1',
      {},
      [
        ['list', 'ok'],
        ['hurried', 'ok'],
        ['missing', 'NOT_FOUND'],
      ],
      207,
    ],
    [
      '/trpc/list,hurried,missing?batch=1',
      lines,
      [
        ['list', 'ok'],
        ['hurried', 'ok'],
        ['missing', 'NOT_FOUND'],
      ],
      200,
    ],
    ['/v1/nowhere', {}, [], 404],
  ],
)(
  'telemetry observes each call of GET %s with %j, and the end of the request',
  async (target, headers, calls, status) => {
    const { get, events, records } = await start();
    await get(target, headers);
    await expect.poll(() => events.at(-1)).toBe(`end ${status}`);
    expect(events.slice(0, -1).toSorted()).toEqual(
      calls.flatMap(([path, outcome]) => [`begin ${path}`, `end ${path} ${outcome}`]).toSorted(),
    );
    expect(records).toMatchObject([{ status, trace }]);
  },
);
