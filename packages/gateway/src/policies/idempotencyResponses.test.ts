import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryState, type State } from '../index.ts';
import type { IdempotencyOptions } from './idempotency.ts';
import { declareErrors } from '../procedures/declareErrors.ts';
import { t, testGateway } from '../testing/testGateway.ts';

/** An error for each status of an error, over REST and tRPC. */
const statusErrors = declareErrors(
  Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`STATUS_${400 + index}`, { status: 400 + index }]),
  ) as Record<Uppercase<string>, { status: number }>,
);

/** A gateway with a procedure for each kind of response. */
async function start(
  { state, ...idempotency }: IdempotencyOptions<unknown> & { readonly state?: State } = {},
  maxResponseSize = 1000,
) {
  let runs = 0;
  const run = () => (runs += 1);
  const post = (path: `/${string}`, meta: object = {}) =>
    t.procedure.meta({ idempotencyKey: 'optional', openapi: { method: 'POST', path, ...meta } });
  const router = t.router({
    respond: post('/respond')
      .errors(statusErrors)
      .input(z.object({ status: z.int() }))
      .output(z.object({ run: z.int() }))
      .mutation(({ input: { status } }) => {
        run();
        const error = statusErrors[`STATUS_${status}` as Uppercase<string>];
        if (error) throw error();
        return { run: runs };
      }),
    raise: post('/raise')
      .input(z.object({ code: z.enum(['CONFLICT', 'SERVICE_UNAVAILABLE']) }))
      .output(z.void())
      .mutation(({ input: { code } }) => {
        run();
        throw new TRPCError({ code, message: 'x'.repeat(2000) });
      }),
    remove: post('/remove', { successStatus: 204 })
      .output(z.void())
      .mutation(() => void run()),
    move: post('/move', { successStatus: 303 })
      .output(z.void())
      .mutation(({ ctx }) => ctx.response.header('location', `/v1/moved/${run()}`)),
    bytes: post('/bytes', { produces: 'application/octet-stream' })
      .input(z.object({ length: z.int() }))
      .mutation(({ input: { length } }) => new Uint8Array(length).fill(run())),
    cookies: post('/cookies')
      .output(z.object({ run: z.int() }))
      .mutation(({ ctx: { response } }) => {
        for (const name of ['a', 'b']) response.append('set-cookie', `${name}=ü; Path=/`);
        return { run: run() };
      }),
    large: post('/large')
      .output(z.object({ text: z.string() }))
      .mutation(() => ({ text: `${run()}`.repeat(2000) })),
    text: post('/text')
      .input(z.object({ length: z.int() }))
      .output(z.string())
      .mutation(({ input: { length } }) => `${run()}`.padEnd(length, 'ü')),
    invalid: post('/invalid')
      .output(z.object({ run: z.string() }))
      .mutation(() => ({ run: run() }) as never),
    circular: post('/circular')
      .output(z.any())
      .mutation(() => {
        const circle: Record<string, unknown> = { run: run() };
        return Object.assign(circle, { circle });
      }),
  });
  const { fetch } = await testGateway(router, {
    idempotency: { caller: () => undefined, ...idempotency },
    ...(state && { state }),
    maxResponseSize,
    onResponse: () => {},
  });
  const send = async (target: string, input?: object, key = 'key-1') => {
    const response = await fetch(`http://localhost${target}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      ...(input && { body: JSON.stringify(input) }),
    });
    const isReplayed = response.headers.get('idempotent-replayed') === 'true';
    const headers = [...response.headers].filter(
      ([name]) => name !== 'x-request-id' && name !== 'idempotent-replayed',
    );
    const bytes = [...new Uint8Array(await response.arrayBuffer())];
    return { isReplayed, response: { status: response.status, headers, bytes } };
  };
  return { runs: () => runs, send };
}

const protocols = ['/v1', '/trpc'];

describe('the statuses that are stored', () => {
  it.each([
    402, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428,
    431, 451,
  ])('a repeat after %d receives the same response, and the procedure runs once', async (status) => {
    for (const protocol of protocols) {
      const { runs, send } = await start();
      const first = await send(`${protocol}/respond`, { status });
      expect(first.response.status).toBe(status);
      expect(await send(`${protocol}/respond`, { status })).toEqual({ ...first, isReplayed: true });
      expect(runs()).toBe(1);
    }
  });

  it.each([400, 401, 403, 408, 425, 429, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 599])(
    'the procedure runs again after %d, and a repeat may have another input',
    async (status) => {
      for (const protocol of protocols) {
        const { runs, send } = await start();
        for (const isReplayed of [false, false]) {
          const { response, ...rest } = await send(`${protocol}/respond`, { status });
          expect([response.status, rest.isReplayed]).toEqual([status, isReplayed]);
        }
        expect((await send(`${protocol}/respond`, { status: 404 })).response.status).toBe(404);
        expect(await send(`${protocol}/respond`, { status: 404 })).toMatchObject({ isReplayed: true });
        expect(runs()).toBe(3);
      }
    },
  );

  it.each([
    ['CONFLICT', 1],
    ['SERVICE_UNAVAILABLE', 2],
  ])(
    'an error that is larger than maxResponseSize is 413, and stored as if it were not: %s',
    async (code, count) => {
      for (const protocol of protocols) {
        const { runs, send } = await start();
        expect((await send(`${protocol}/raise`, { code })).response.status).toBe(413);
        expect(await send(`${protocol}/raise`, { code })).toMatchObject({
          isReplayed: count === 1,
          response: { status: 413 },
        });
        expect(runs()).toBe(count);
      }
    },
  );
});

describe('replayed responses', () => {
  it.each([
    ['an empty response (204)', '/v1/remove', undefined, 204],
    ['an empty response over tRPC', '/trpc/remove', undefined, 200],
    ['a redirect', '/v1/move', undefined, 303],
    ['bytes', '/v1/bytes', { length: 300 }, 200],
    ['no bytes', '/v1/bytes', { length: 0 }, 200],
    ['several headers of one name, outside ASCII', '/v1/cookies', undefined, 200],
    ['several headers of one name over tRPC', '/trpc/cookies', undefined, 200],
    ['text outside ASCII', '/v1/text', { length: 20 }, 200],
    ['an invalid output', '/v1/invalid', undefined, 500],
    ['an invalid output over tRPC', '/trpc/invalid', undefined, 500],
    ['an output that is too large', '/v1/large', undefined, 413],
    ['an output that is too large, over tRPC,', '/trpc/large', undefined, 413],
    ['an output that JSON does not have', '/v1/circular', undefined, 500],
    ['an output that JSON does not have, over tRPC,', '/trpc/circular', undefined, 500],
  ])('%s is replayed with its status, headers and bytes', async (_what, target, input, status) => {
    const { runs, send } = await start();
    const first = await send(target, input);
    expect([first.response.status, first.isReplayed]).toEqual([status, false]);
    expect(await send(target, input)).toEqual({ ...first, isReplayed: true });
    expect(await send(target, input)).toEqual({ ...first, isReplayed: true });
    expect(runs()).toBe(1);
  });

  it.each(['/v1/text', '/trpc/text', '/v1/bytes'])(
    'POST %s replays a response of 64 KiB with its headers, and answers 409 for a larger one',
    async (target) => {
      const memory = memoryState();
      const stored: number[] = [];
      const state: State = {
        ...memory,
        set(key, value, ttlMs, caller) {
          stored.push(new TextEncoder().encode(value).length);
          return memory.set(key, value, ttlMs, caller);
        },
      };
      const { send, runs } = await start({ state }, 1_000_000);
      const repeated = async (length: number) => {
        await send(target, { length }, `key-${length}`);
        return (await send(target, { length }, `key-${length}`)).response;
      };
      await repeated(10_000);
      await repeated(10_500);
      const [first = 0, second = 0] = stored;
      const largest = 10_000 + Math.floor((65_536 - first) / ((second - first) / 500));
      expect((await repeated(largest)).status).toBe(200);
      const { headers, status } = await repeated(largest + 1);
      expect(status).toBe(409);
      expect(headers.some(([name]) => name === 'retry-after')).toBe(false);
      expect(runs()).toBe(4);
    },
  );

  it.each([
    ['k', '"k"'],
    ['a\\b', '"a\\\\b"'],
    ['k'.repeat(255), `"${'k'.repeat(255)}"`],
    ['"\\"\\\\"', '"\\"\\\\"'],
    ['~!#', '~!#'],
  ])('the response to the key %s is replayed for %s, and another key runs', async (key, same) => {
    const { runs, send } = await start();
    expect((await send('/v1/cookies', undefined, key)).isReplayed).toBe(false);
    expect((await send('/v1/cookies', undefined, same)).isReplayed).toBe(true);
    expect((await send('/v1/cookies', undefined, 'other')).isReplayed).toBe(false);
    expect(runs()).toBe(2);
  });
});
