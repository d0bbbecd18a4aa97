import { unhandledRejections } from '@petstore/testing/unhandledRejections';
import { createGateway, type GatewayOptions, memoryState, type State } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { expect, test, vi } from 'vitest';
import { NotReadyError } from './health/healthRoutes.ts';
import { log as jsonLogPart } from './log/log.ts';
import type { LoggedRequest, LogPart, OpenedLog, ServiceLog } from './parts.ts';
import { startService } from './service.ts';
import { failures } from './testing/failures.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({ pay: t.procedure.meta({ idempotencyKey: 'optional' }).mutation(() => 'paid') });

/** A log that writes nothing, with these members instead of its own. */
const logWith = (own: Partial<ServiceLog> = {}, requests?: OpenedLog['requests']): LogPart => ({
  open: () => ({
    log: { info() {}, warn() {}, error() {}, fatal() {}, ...own },
    requests,
    end: async () => {},
  }),
});

const payments = (options: Partial<GatewayOptions<typeof router, unknown>>) =>
  createGateway({
    idempotency: { caller: () => undefined },
    ...options,
    router,
    createContext: () => ({}),
    document: { title: 'Payments', version: '1.0.0' },
  });

test.each<[what: string, state: State | undefined, warnings: unknown[]]>([
  [
    'logs a warning if idempotency keys have no shared state',
    undefined,
    [[expect.stringMatching(/^idempotency keys are in the memory of each worker/)]],
  ],
  ['logs no warning if idempotency keys have a shared state', memoryState(), []],
])('the first worker %s', async (_, state, warnings) => {
  const warn = vi.fn<(fields: unknown, message?: string) => void>();
  const service = await startService(
    {
      server: 'node',
      log: logWith({ warn }),
      start: async ({ options }) => ({ gateway: await payments({ ...options, ...(state && { state }) }) }),
    },
    { port: 0, isFirst: true },
  );
  await service.close();
  expect(warn.mock.calls).toEqual(warnings);
});

test.each<[what: string, isTTY: boolean, log: LogPart | undefined, written: unknown[]]>([
  [
    'says where it listens on stderr if that is a terminal',
    true,
    logWith(),
    [[expect.stringMatching(/^Listening on http:\/\/127\.0\.0\.1:\d+, on node:http\n$/)]],
  ],
  ['says nothing on stderr if that is no terminal', false, logWith(), []],
  ['says nothing on stderr with the default log, which is text already', true, undefined, []],
])('a start %s', async (_, isTTY, log, written) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const wasTTY = process.stderr.isTTY;
  process.stderr.isTTY = isTTY;
  const service = await startService({
    server: 'node',
    ...(log && { log }),
    start: async ({ options }) => ({ gateway: await payments(options) }),
  });
  process.stderr.isTTY = wasTTY;
  expect(write.mock.calls).toEqual(written);
  await service.close();
  write.mockRestore();
  print.mockRestore();
});

test('a start that fails closes its resources, then ends its log, and leaves no listener of the process', async () => {
  const before = process.listenerCount('exit');
  const steps: string[] = [];
  const jsonLog = jsonLogPart({ level: 'silent' });
  const starting = startService({
    server: 'node',
    log: {
      open(options) {
        const opened = jsonLog.open(options);
        const end = async () => {
          steps.push('log');
          await opened.end();
        };
        return { ...opened, end };
      },
    },
    start({ onClose }) {
      onClose(() => void steps.push('database'));
      throw new Error('away');
    },
  });
  await expect(starting).rejects.toThrow('away');
  expect(steps).toEqual(['database', 'log']);
  expect(process.listenerCount('exit')).toBe(before);
});

test('/readyz answers 503 while a check hangs, the record of each such request has the reason of the first failing check in the order of their definition, and a stop is one', async () => {
  const onResponse = vi.fn<(record: LoggedRequest) => void>();
  let check: () => unknown = () => new Promise(() => {});
  let isWarm = false;
  const service = await startService({
    server: 'node',
    log: logWith({}, { onResponse, end() {} }),
    start: async ({ options }) => ({
      gateway: await payments({
        ...options,
        routes: { ...options.routes, '/other': () => ({ status: 503, headers: [], body: '' }) },
      }),
      checks: {
        database: () => check(),
        cache() {
          if (!isWarm) throw new Error('cold');
          return 'warm';
        },
      },
    }),
  });
  const response = await fetch(`${service.origin}/readyz`);
  expect([response.status, await response.json()]).toEqual([
    503,
    { status: 'unavailable', reason: 'database' },
  ]);
  check = () => {
    throw new NotReadyError('closed');
  };
  await fetch(`${service.origin}/readyz`);
  await fetch(`${service.origin}/other`);
  await fetch(`${service.origin}/readyz`, { method: 'POST' });
  check = () => {};
  isWarm = true;
  await fetch(`${service.origin}/readyz`);
  await vi.waitFor(() => expect(onResponse).toHaveBeenCalledTimes(5));
  expect(onResponse.mock.calls.map(([{ status, reason }]) => [status, reason])).toEqual([
    [503, 'database'],
    [503, 'closed'],
    [503, undefined],
    [405, undefined],
    [200, undefined],
  ]);
  check = () => {
    throw new NotReadyError('closed');
  };
  await service.close();
  expect(await service.notReady()).toBe('draining');
});

test.each(failures)(
  'a log or metrics whose onResponse %s changes no response and does not end the process',
  async (_, fail) => {
    // Not mocks, which would handle the rejections.
    const calls: string[] = [];
    const failAs = (part: string) => () => {
      calls.push(part);
      return fail();
    };
    const service = await startService({
      server: 'node',
      log: logWith({}, { onResponse: failAs('log'), end() {} }),
      admin: {
        port: 0,
        metrics: {
          open: () => ({
            onResponse: failAs('metrics'),
            snapshot: async () => ({}) as never,
          }),
          aggregate: () => ({
            remove() {},
            page: () => async () => ({ status: 200, headers: [], body: '' }),
          }),
        },
      },
      start: async ({ options }) => ({ gateway: await payments(options) }),
    });
    const unhandled = await unhandledRejections(async () => {
      for (let count = 0; count < 2; count += 1) {
        const headers = { 'content-type': 'application/json' };
        const { status } = await fetch(`${service.origin}/trpc/pay`, { method: 'POST', headers });
        expect(status).toBe(200);
      }
      await vi.waitFor(() => expect(calls).toEqual(['metrics', 'log', 'metrics', 'log']));
    });
    await service.close();
    expect(unhandled).toEqual([]);
  },
);
