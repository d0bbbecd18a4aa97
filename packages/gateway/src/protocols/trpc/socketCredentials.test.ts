import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bearer } from '../../auth/schemes/bearer.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { SocketHandler } from '../../http/webSocket.ts';
import { bytesAndKind, call, openSocket, quiet, type Options } from '../../testing/openSocket.ts';

const t = initTRPC.context<{ readonly caller: unknown }>().create({ isDev: false });
const router = t.router({
  caller: t.procedure.query(({ ctx }) => ctx.caller),
  watch: t.procedure.subscription(async function* () {
    yield 1;
  }),
});

const connectionParams = (data: unknown) => ({ method: 'connectionParams', data });
const goodKey = connectionParams({ authorization: 'Bearer good-key' });
const askCaller = call(1, 'query', 'caller');
const isAda = [{ id: 1, result: { data: 'Ada' } }];
const at = (address: string) => ({ 'x-forwarded-for': address });

interface Hooks extends Options {
  /** Runs before each verification of a key. */
  readonly checkKey?: (request: HttpRequest) => unknown;
}

/** Opens a socket whose key is to follow in its first message. */
async function open({ checkKey, ...options }: Hooks = {}, target = '/trpc?connectionParams=1') {
  const opened = await openSocket(
    router,
    {
      authentication: bearer({
        async verify(token, request) {
          await checkKey?.(request);
          return token === 'good-key' && 'Ada';
        },
      }),
      createContext: ({ identity }) => ({ caller: identity }),
      trustProxy: ['127.0.0.1'],
      ...options,
    },
    target,
  );
  /** The statuses of further upgrades: `undefined` for one that is accepted, and opened. */
  const statusOfNext = async (headers?: Record<string, string>) => {
    const decision = await opened.upgradeAgain(headers);
    if (typeof decision !== 'function') return decision?.status;
    await opened.openAnother(headers);
    return undefined;
  };
  const sendOn = async (handler: SocketHandler, ...messages: object[]) => {
    for (const message of messages) handler.message(...bytesAndKind(message));
    await quiet();
  };
  return { ...opened, statusOfNext, sendOn };
}

const useFakeTimers = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
};

describe('the credential of a WebSocket', () => {
  it.each(['authorization', 'Authorization'])(
    'a WebSocket whose URL has connectionParams=1 takes its credential from "%s" in the first message, and no record has it',
    async (name) => {
      const { frames, records, send } = await open();
      await send(connectionParams({ [name]: 'Bearer good-key' }), askCaller);
      expect(frames).toMatchObject(isAda);
      expect(JSON.stringify(records)).not.toContain('good-key');
    },
  );

  it('an upgrade with an invalid key in its header gets 401, even if its URL has connectionParams=1', async () => {
    const { statusOfNext } = await open();
    expect(await statusOfNext({ authorization: 'Bearer bad' })).toBe(401);
  });

  it.each<[error: Error, code: number]>([
    [new Error('connect ECONNREFUSED mongodb://user:secret@db'), 1011],
    [new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: new Error('secret') }), 1013],
    [new TRPCError({ code: 'FORBIDDEN', message: 'Not here.' }), 1008],
  ])(
    'a WebSocket whose key cannot be verified (%s) is closed with %i, and its error message hides the cause',
    async (error, code) => {
      const checkKey = () => {
        throw error;
      };
      const { closes, frames, send } = await open({ checkKey, maskUnexpectedErrors: true });
      await send(goodKey);
      expect(closes).toMatchObject([[code, expect.any(String)]]);
      expect(frames).toMatchObject([{ error: {} }]);
      expect(JSON.stringify(frames)).not.toContain('secret');
    },
  );

  it('over twice maxBodySize of calls while the key is being verified close the WebSocket with 1008, and none of them run', async () => {
    const { closes, frames, send } = await open({
      checkKey: () => new Promise(() => {}),
      maxBodySize: 32_768,
    });
    const large = [call(1, 'query', 'x'.repeat(30_000))];
    await send(goodKey, large, large, large);
    expect([closes, frames]).toEqual([[[1008, 'Too many messages were sent at once.']], []]);
  });

  it('a key is no longer verified after its WebSocket is closed, and closes it with 1008 when it is revoked', async () => {
    useFakeTimers();
    let verifications = 0;
    let isRevoked = false;
    const authentication = bearer({
      verify() {
        verifications += 1;
        return !isRevoked && 'Ada';
      },
    });
    const { closes, openAnother, send, sendOn } = await open({ authentication });
    await send(goodKey);
    const other = await openAnother();
    await sendOn(other, goodKey);
    await other.closed();
    const before = verifications;
    await vi.advanceTimersByTimeAsync(1000);
    expect(verifications).toBe(before + 1);
    isRevoked = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(closes).toEqual([[1008, 'The credential is no longer valid.']]);
  });

  it.each(['/', '//', '\\', 'a b', 'user@name'])(
    'a WebSocket is opened and answered also with Host: %j',
    async (host) => {
      const { frames, openAnother, sendOn } = await open();
      await sendOn(await openAnother({ host }), goodKey, askCaller);
      expect(frames).toMatchObject(isAda);
    },
  );
});

describe('WebSockets that have not sent their credential', () => {
  it('a WebSocket that sends no credential within 5 s is closed with 1008', async () => {
    useFakeTimers();
    const { closes } = await open();
    await vi.advanceTimersByTimeAsync(4999);
    expect(closes).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(closes).toEqual([[1008, 'No credential was received in time.']]);
  });

  it('a WebSocket that sends its key within 5 s stays open while the key is verified, and counts as no failed attempt', async () => {
    useFakeTimers();
    const verification = Promise.withResolvers<void>();
    const { closes, frames, send, statusOfNext } = await open({
      checkKey: () => verification.promise,
      failedAttempts: { attempts: 1, windowMs: 60_000 },
    });
    await send(goodKey, askCaller);
    await vi.advanceTimersByTimeAsync(5500);
    verification.resolve();
    await quiet();
    expect([frames, closes]).toMatchObject([isAda, []]);
    expect(await statusOfNext()).toBeUndefined();
  });

  it('those that send none in time count as failed attempts: over the limit their address gets 429, except for a valid key', async () => {
    useFakeTimers();
    const failedAttempts = { attempts: 2, windowMs: 60_000 };
    const { closes, openAnother, records, statusOfNext, upgradeAgain } = await open({ failedAttempts });
    await openAnother();
    await vi.advanceTimersByTimeAsync(5000);
    expect(closes).toHaveLength(2);
    expect(await upgradeAgain()).toMatchObject({
      status: 429,
      body: expect.stringContaining(
        'Too many WebSockets without a credential from this address: the limit is 2 in 60 s. Try again later.',
      ),
    });
    expect(records.at(-1)).toMatchObject({ status: 429, limit: 'failed-attempts' });
    expect(await statusOfNext({ authorization: 'Bearer bad' })).toBe(429);
    expect(await statusOfNext({ authorization: 'Bearer good-key' })).toBeUndefined();
  });

  it.each([
    ['two IPv4 addresses', '203.0.113.1', '203.0.113.2', undefined],
    ['two /64 networks of IPv6', '2001:db8::1', '2001:db8:0:1::1', undefined],
    ['one IPv4 address', '203.0.113.1', '203.0.113.1', 503],
    ['one /64 network of IPv6', '2001:db8::1', '2001:db8::2', 503],
  ])(
    'beside 50 of %s (%s), one of %s is answered with: %s, until one of the 50 sends its credential',
    async (_what, first, second, expected) => {
      const { openAnother, sendOn, statusOfNext, upgradeAgain } = await open();
      const handlers: SocketHandler[] = [];
      for (let count = 0; count < 50; count += 1) handlers.push(await openAnother(at(first)));
      expect(await statusOfNext(at(second))).toBe(expected);
      const message = 'Too many sockets are waiting to authenticate: the limit is 50 per address.';
      expect(await upgradeAgain(at(first))).toMatchObject({ body: expect.stringContaining(message) });
      await sendOn(handlers[0] as SocketHandler, goodKey);
      expect(await statusOfNext(at(second))).toBeUndefined();
    },
  );

  it('beside 500 of all addresses, further ones get 503 until one of those sends its credential or disconnects', async () => {
    const { handler, openAnother, send, statusOfNext, upgradeAgain } = await open();
    const handlers: SocketHandler[] = [handler];
    for (let n = 0; n < 499; n += 1) handlers.push(await openAnother(at(`203.0.113.${n % 10}`)));
    const full = 'Too many sockets are waiting to authenticate: the limit is 500. Try again later.';
    expect(await upgradeAgain(at('203.0.113.11'))).toMatchObject({
      status: 503,
      body: expect.stringContaining(full),
    });
    await send(goodKey);
    expect(await statusOfNext(at('203.0.113.11'))).toBeUndefined();
    expect(await statusOfNext(at('203.0.113.11'))).toBe(503);
    void handlers[1]?.closed();
    expect(await statusOfNext(at('203.0.113.11'))).toBeUndefined();
  });

  it('one that its client closes during authentication counts on, since its connection may stay open', async () => {
    const lookup = Promise.withResolvers<string>();
    const { handler, openAnother, send, statusOfNext } = await open({ checkKey: () => lookup.promise });
    for (let count = 1; count < 50; count += 1) await openAnother();
    await send(goodKey);
    await handler.closed(true);
    lookup.resolve('Ada');
    await quiet();
    expect(await statusOfNext()).toBe(503);
  });
});

it('if createContext rejects, every pending call gets its error in the order of the messages, and onError and onResponse receive each of them', async () => {
  const context = Promise.withResolvers<never>();
  const errorPaths: unknown[] = [];
  const { frames, records, send } = await open({
    createContext: () => context.promise,
    trpc: { onError: ({ path }) => void errorPaths.push(path) },
  });
  await send(goodKey, askCaller, [call(2, 'subscription', 'watch'), call(3, 'query', 'caller')]);
  expect(frames).toEqual([]);
  records.length = 0;
  context.reject(new TRPCError({ code: 'UNAUTHORIZED', message: 'Not you.' }));
  await quiet();
  expect(frames).toMatchObject(
    [null, 1, 2, 3].map((id) => ({ id, error: { message: 'Not you.', data: { code: 'UNAUTHORIZED' } } })),
  );
  expect(errorPaths).toEqual([undefined, 'caller', 'watch', 'caller']);
  expect(records).toMatchObject([
    { operation: undefined, status: 401 },
    { operation: 'caller', status: 401, isStream: false },
    { operation: 'watch', status: 401, isStream: true },
    { operation: 'caller', status: 401, isStream: false },
  ]);
});
