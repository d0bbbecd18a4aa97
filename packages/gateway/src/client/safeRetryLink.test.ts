import { startFaultyFront, type Fault } from '@petstore/testing/faultyFront';
import {
  createTRPCClient,
  createTRPCUntypedClient,
  httpBatchLink,
  httpLink,
  splitLink,
  TRPCClientError,
} from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { callHeaders, hasIdempotencyKey, safeRetryLink, type SafeRetryOptions } from './index.ts';
import { retryAfterMs } from './safeRetryLink.ts';
import { t, testGateway } from '../testing/testGateway.ts';

/** Creates a router that stores names. `names.add` accepts an `Idempotency-Key` and resolves after `gate`. */
function createNames(gate: Promise<void>) {
  const names: string[] = [];
  const router = t.router({
    list: t.procedure.query(() => names),
    throwCode: t.procedure.input(z.enum(['CONFLICT', 'NOT_FOUND'])).query(({ input: code }) => {
      names.push(code);
      throw new TRPCError({ code });
    }),
    names: t.router({
      add: t.procedure
        .meta({ idempotencyKey: 'optional' })
        .input(z.string())
        .mutation(async ({ input }) => {
          if (names.includes(input)) throw new TRPCError({ code: 'CONFLICT' });
          names.push(input);
          await gate;
          return input;
        }),
    }),
    addAgain: t.procedure.input(z.string()).mutation(({ input }) => void names.push(input)),
  });
  return { names, router };
}
type Router = ReturnType<typeof createNames>['router'];

/** Starts a client of a gateway behind a proxy that injects faults. Each random delay is a twentieth of its maximum. */
async function start(
  faults: readonly Fault[],
  { gate = Promise.resolve(), ...options }: SafeRetryOptions<Router> & { readonly gate?: Promise<void> } = {},
) {
  vi.spyOn(Math, 'random').mockReturnValue(0.05);
  onTestFinished(() => void vi.restoreAllMocks());
  const { names, router } = createNames(gate);
  const gateway = await testGateway(router);
  const front = await startFaultyFront((path, init) => gateway.fetch(`http://localhost${path}`, init));
  onTestFinished(() => front.close());
  front.faults.push(...faults);
  const url = `${front.origin}/trpc`;
  const client = createTRPCClient<Router>({
    links: [
      safeRetryLink({ keyedMutations: ['names.add'], ...options }),
      splitLink({
        condition: hasIdempotencyKey,
        true: httpLink({ url, headers: callHeaders }),
        false: httpBatchLink({ url, headers: callHeaders }),
      }),
    ],
  });
  return { client, names, url, ...front };
}

type Started = Awaited<ReturnType<typeof start>>;

const keysOf = ({ requests }: Started) => requests.map(({ headers }) => headers['idempotency-key']);

const timeoutsOf = ({ requests }: Started) =>
  requests.map(({ headers }) => Number(/^(\d+)m$/.exec(String(headers['grpc-timeout']))?.[1]));

const errorResponse = (status: number, headers: Record<string, string> = {}, body = '<h1>Bad gateway</h1>') =>
  new Response(body, { status, headers });
const errorOf = async (call: Promise<unknown>) => {
  const error = await call.catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(TRPCClientError);
  return error as TRPCClientError<Router>;
};
const tooManyRequests = (headers?: Record<string, string>) =>
  errorResponse(429, headers, '{"message":"Slow down."}');
/** A response of the gateway, whose error has its status. */
const gatewayError = (status: number) =>
  errorResponse(status, {}, `{"error":{"message":"No.","code":-32603,"data":{"httpStatus":${status}}}}`);

describe('safeRetryLink with a query', () => {
  it.each<[what: string, fault: () => Fault]>([
    ['429', () => tooManyRequests()],
    ['502 with an HTML page of a proxy', () => errorResponse(502)],
    ['503 with JSON of a proxy', () => errorResponse(503, {}, '{"message":"Unavailable"}')],
    ['504', () => gatewayError(504)],
    ['a connection that ends without a response', () => 'drop'],
    ['a connection that is reset amid the response', () => 'cut'],
  ])('safeRetryLink retries a query after %s', async (_what, fault) => {
    const { client, requests } = await start([fault()]);
    expect(await client.list.query()).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  it('safeRetryLink sends at most `attempts` requests and rejects with the last error', async () => {
    const { client, requests } = await start(['drop', 'cut', gatewayError(503)], { attempts: 3 });
    expect((await errorOf(client.list.query())).message).toBe('No.');
    expect(requests).toHaveLength(3);
  });

  it('safeRetryLink does not retry when the function `headers` rejects', async () => {
    const { url } = await start([]);
    const headers = vi.fn(() => Promise.reject(new Error('No token.')));
    const client = createTRPCClient<Router>({ links: [safeRetryLink(), httpLink({ url, headers })] });
    expect((await errorOf(client.list.query())).message).toBe('No token.');
    expect(headers).toHaveBeenCalledOnce();
  });
});

describe('safeRetryLink between attempts', () => {
  const delayOf = ({ requests: [first, second] }: Started) => (second?.at ?? 0) - (first?.at ?? 0);

  it('safeRetryLink waits for Retry-After and sends the remaining time of `timeoutMs` in Grpc-Timeout', async () => {
    const started = await start([errorResponse(503, { 'retry-after': '1' }, '{}')], { timeoutMs: 20_000 });
    await started.client.list.query();
    expect(delayOf(started)).toBeGreaterThan(990);
    const [first = 0, second = 0] = timeoutsOf(started);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(20_000);
    expect(first - second).toBeGreaterThan(950);
  });

  it.each([
    ['is longer than maxDelayMs', () => '60', { maxDelayMs: 5000 }],
    [
      'ends after timeoutMs',
      () => new Date(Date.now() + 60_000).toUTCString(),
      { maxDelayMs: 90_000, timeoutMs: 20_000 },
    ],
  ])('safeRetryLink rejects at once if Retry-After %s', async (_when, retryAfter, options) => {
    const { client, requests } = await start([tooManyRequests({ 'retry-after': retryAfter() })], options);
    await errorOf(client.list.query());
    expect(requests).toHaveLength(1);
  });

  it('safeRetryLink without Retry-After waits up to 200 ms, doubled with each attempt', async () => {
    const timer = vi.spyOn(globalThis, 'setTimeout');
    const { client } = await start(['drop', 'drop', 'drop', 'drop'], { attempts: 5, timeoutMs: Infinity });
    await client.list.query();
    const waits = timer.mock.calls.map(([, ms]) => ms).filter((ms) => [10, 20, 40, 80].includes(ms ?? 0));
    expect(waits).toEqual([10, 20, 40, 80]);
  });
});

describe('safeRetryLink with a mutation', () => {
  it('safeRetryLink retries an idempotent mutation with the same key, so that it takes effect once', async () => {
    const started = await start(['drop', 'cut', errorResponse(502)]);
    expect(await started.client.names.add.mutate('Ada')).toBe('Ada');
    expect(started.names).toEqual(['Ada']);
    const keys = keysOf(started);
    expect(keys).toEqual(Array(4).fill(expect.stringMatching(/^[\da-f]{32}$/)));
    expect(new Set(keys).size).toBe(1);
  });

  it('safeRetryLink sends the idempotencyKey of the context', async () => {
    const started = await start(['drop']);
    await started.client.addAgain.mutate('Ada', { context: { idempotencyKey: 'order-1' } });
    expect(keysOf(started)).toEqual(['order-1', 'order-1']);
  });

  it('safeRetryLink retries after 409 with Retry-After, while an earlier request with the key is running', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { client, names, requests } = await start([], { gate });
    const options = { context: { idempotencyKey: 'key-1' } };
    const first = client.names.add.mutate('Ada', options);
    await vi.waitFor(() => expect(names).toEqual(['Ada']));
    const second = client.names.add.mutate('Ada', options);
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    setTimeout(open, 300);
    expect(await Promise.all([first, second])).toEqual(['Ada', 'Ada']);
    expect([names, requests.length]).toEqual([['Ada'], 3]);
  });

  it('callHeaders rejects a batch with an idempotency key and names the link to use', async () => {
    const { url, requests } = await start([]);
    const client = createTRPCClient<Router>({
      links: [safeRetryLink({ keyedMutations: ['names.add'] }), httpBatchLink({ url, headers: callHeaders })],
    });
    const { message } = await errorOf(client.names.add.mutate('Ada'));
    expect(message).toBe(
      'The call of "names.add" has an idempotency key, which is not supported in a batch. Send it with httpLink; see hasIdempotencyKey.',
    );
    expect(requests).toEqual([]);
  });
});

const add = ({ client }: Started) => client.names.add.mutate('Ada');

it.each<
  [what: string, faults: readonly Fault[], call: (started: Started) => Promise<unknown>, requests: number]
>([
  ['after 404 of a query', [], ({ client }) => client.throwCode.query('NOT_FOUND'), 1],
  ['after 409 of a query', [], ({ client }) => client.throwCode.query('CONFLICT'), 1],
  ['after 409 of a mutation', [], async (started) => [await add(started), await add(started)], 2],
  ['a mutation that is not idempotent', ['drop'], ({ client }) => client.addAgain.mutate('Ada'), 1],
  [
    'a mutation if the terminating link has no callHeaders',
    ['drop'],
    ({ url }) => {
      const links = [safeRetryLink<Router>({ keyedMutations: ['names.add'] }), httpLink<Router>({ url })];
      return createTRPCClient<Router>({ links }).names.add.mutate('Ada');
    },
    1,
  ],
])('safeRetryLink does not retry %s', async (_what, faults, call, requests) => {
  const started = await start(faults);
  await errorOf(call(started));
  expect([started.names.length, started.requests.length]).toEqual([1, requests]);
});

describe('safeRetryLink with an aborted or timed-out call', () => {
  it.each<[when: string, fault: () => Fault]>([
    ['between attempts', () => tooManyRequests({ 'retry-after': '5' })],
    ['during a request', () => 'hold'],
  ])('safeRetryLink rejects at once when the signal aborts %s', async (_when, fault) => {
    const { client, requests } = await start([fault()]);
    const abort = new AbortController();
    const rejected = errorOf(client.list.query(undefined, { signal: abort.signal }));
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    abort.abort(new Error('No longer needed.'));
    expect((await rejected).message).toBe('No longer needed.');
    expect(requests).toHaveLength(1);
  });

  it('safeRetryLink sends no request if the signal has aborted before', async () => {
    const { client, requests } = await start([]);
    await errorOf(client.list.query(undefined, { signal: AbortSignal.abort() }));
    expect(requests).toEqual([]);
  });

  it('safeRetryLink rejects after `timeoutMs` during a request', async () => {
    const { client } = await start(['hold'], { timeoutMs: 50 });
    const error = await errorOf(client.list.query());
    expect([error.cause?.name, error.message]).toEqual([
      'TimeoutError',
      'The call timed out after 50 ms. Whether it had an effect is unknown.',
    ]);
  });
});

it('a query with an idempotency key in its context is sent in a batch, without the key', async () => {
  const started = await start([]);
  const query = () => started.client.list.query(undefined, { context: { idempotencyKey: 'key-1' } });
  await Promise.all([query(), query()]);
  expect(keysOf(started)).toEqual([undefined]);
});

it('safeRetryLink passes a subscription on unchanged: it has no timeout, and its error is not retried', async () => {
  const passed: unknown[] = [];
  const client = createTRPCUntypedClient<Router>({
    links: [
      safeRetryLink({ timeoutMs: 20 }),
      () =>
        ({ op }) =>
          observable((observer) => {
            passed.push(op.context);
            setTimeout(() => observer.error(TRPCClientError.from(new TypeError('fetch failed'))), 60);
          }),
    ],
  });
  const error = await new Promise<Error>((resolve) => {
    client.subscription('ticks', undefined, { onError: resolve });
  });
  expect(error.message).toBe('fetch failed');
  expect(passed).toEqual([{}]);
});

const now = Date.UTC(1994, 10, 6, 8, 49, 0);

it.each<[value: string, ms: number | undefined]>([
  ['0', 0],
  ['120', 120_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:48:37 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['2026-11-22', undefined],
  ['2026-11-22T10:00:00Z', undefined],
  ['Sun, 99 Nov 1994 08:49:37 GMT', undefined],
])('retryAfterMs(%j) returns %s ms', (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms);
});
