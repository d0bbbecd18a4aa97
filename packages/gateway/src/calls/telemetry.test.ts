import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { t, testGateway } from '../testing/testGateway.ts';
import type { Telemetry } from './telemetry.ts';

// The spans of requests and calls are tested in packages/runtime.

const router = t.router({
  list: t.procedure.query(() => []),
  hurried: t.procedure.meta({ callTimeoutMs: 1000 }).query(async () => 'done'),
  missing: t.procedure.query(() => {
    throw new TRPCError({ code: 'NOT_FOUND' });
  }),
});

const calls = ['hurried ok', 'list ok', 'missing NOT_FOUND'];

it.each<[what: string, target: string, headers: Record<string, string>, calls: string[], status: number]>([
  ['a batch', '/trpc/list,hurried,missing?batch=1', {}, calls, 207],
  ['JSON lines', '/trpc/list,hurried,missing?batch=1', { 'trpc-accept': 'application/jsonl' }, calls, 200],
  ['no call', '/v1/nowhere', {}, [], 404],
])(
  'telemetry observes the begin and the end of each call of a request with %s, and its end',
  async (_what, target, headers, expected, status) => {
    const begun: string[] = [];
    const ended: string[] = [];
    let endStatus: number | undefined;
    const span = { trace: undefined, run: <Result>(run: () => Result) => run() };
    const telemetry: Telemetry = {
      begin: () => ({
        ...span,
        call(path) {
          begun.push(path);
          return { ...span, end: (error) => ended.push(`${path} ${error?.code ?? 'ok'}`) };
        },
        end: (record) => (endStatus = record.status),
      }),
    };
    const { fetch } = await testGateway(router, { telemetry, onResponse: () => {} });
    await (await fetch(`http://localhost${target}`, { headers })).text();
    await expect.poll(() => endStatus).toBe(status);
    expect(ended.toSorted()).toEqual(expected);
    expect(begun.toSorted()).toEqual(expected.map((call) => call.split(' ')[0]));
  },
);
