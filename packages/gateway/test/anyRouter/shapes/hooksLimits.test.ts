import { randomUUID } from 'node:crypto';
import { createGateway, memoryState, type State } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { needs } from '../../servers.ts';
import { abortedCalls, costly, slow, t } from './hooks.ts';
import { startShape } from './startShape.ts';

// Deadlines and costs of procedures. oRPC has a plugin for deadlines (timeout). There is no thread about tRPC.

const tooLong = (ms: number) => `The call timed out after ${ms} ms. Whether it had an effect is unknown.`;

it('deadlineMs replaces callTimeoutMs over REST, whether it is shorter or longer', async () => {
  const { restJson } = await startShape(slow, { callTimeoutMs: 300 });
  expect(await restJson('/short')).toEqual([
    504,
    { code: 'GATEWAY_TIMEOUT', message: tooLong(60), status: 504 },
  ]);
  expect(await restJson('/long')).toEqual([200, 'long']);
});

it('a call of a batch ends at its deadlineMs, and the others are not aborted', async () => {
  abortedCalls.length = 0;
  const { server } = await startShape(slow, { callTimeoutMs: 2000 });
  const client = createTRPCClient<typeof slow>({
    links: [httpBatchLink({ url: `${server.origin}/trpc`, fetch: server.fetch as never })],
  });
  const [short, usual] = await Promise.allSettled([client.short.query(), client.usual.query()]);
  expect(short).toMatchObject({ reason: { message: tooLong(60), data: { httpStatus: 504 } } });
  expect(usual).toEqual({ status: 'fulfilled', value: 'usual' });
  expect(abortedCalls).toEqual(['short']);
});

it('a call with a longer deadlineMs is not aborted if another call of its batch passes callTimeoutMs', async () => {
  abortedCalls.length = 0;
  const { server } = await startShape(slow, { callTimeoutMs: 100 });
  const client = createTRPCClient<typeof slow>({
    links: [httpBatchLink({ url: `${server.origin}/trpc`, fetch: server.fetch as never })],
  });
  const [usual, long] = await Promise.allSettled([client.usual.query(), client.long.query()]);
  expect(usual).toMatchObject({ reason: { message: tooLong(100) } });
  expect(long).toEqual({ status: 'fulfilled', value: 'long' });
  expect(abortedCalls).toEqual(['usual']);
});

/** tRPC's own client on a WebSocket. */
function onSocket<Router extends typeof slow | typeof costly | typeof keyed>(origin: string) {
  const ws = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc`, WebSocket: WebSocket as never });
  onTestFinished(() => ws.close());
  return createTRPCClient<Router>({ links: [wsLink({ client: ws } as never)] });
}

it('a call on a WebSocket ends at its deadlineMs', async () => {
  needs('a port');
  const { origin } = await startShape(slow, { callTimeoutMs: 2000 });
  const client = onSocket<typeof slow>(origin);
  const [short, usual] = await Promise.allSettled([client.short.query(), client.usual.query()]);
  expect(short).toMatchObject({ reason: { message: tooLong(60) } });
  expect(usual).toEqual({ status: 'fulfilled', value: 'usual' });
});

const rateLimit = { calls: 11, windowSeconds: 3600 };

it('rateLimitCost is the number of calls that a call counts as, over REST and tRPC, and for each call of a batch', async () => {
  const { rest, server } = await startShape(costly, { rateLimit });
  const statusAndRemaining = async (response: Response) => {
    await response.text();
    return [response.status, /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]];
  };
  const rpc = (path: string) => server.fetch(`${server.origin}/trpc/${path}`);
  expect(await statusAndRemaining(await rest('/search'))).toEqual([200, '6']);
  expect(await statusAndRemaining(await rpc('ping'))).toEqual([200, '6']);
  expect(await statusAndRemaining(await rpc('ping,read?batch=1&input=%7B%7D'))).toEqual([200, '5']);
  expect(await statusAndRemaining(await rpc('search,read?batch=1&input=%7B%7D'))).toEqual([429, '5']);
  expect(await statusAndRemaining(await rpc('search'))).toEqual([200, '0']);
  expect(await statusAndRemaining(await rest('/read'))).toEqual([429, '0']);
  expect(await statusAndRemaining(await rest('/ping'))).toEqual([200, '0']);
});

it('rateLimitCost applies to calls on a WebSocket', async () => {
  needs('a port');
  const { origin } = await startShape(costly, { rateLimit: { ...rateLimit, calls: 7 } });
  const client = onSocket<typeof costly>(origin);
  // The upgrade counted as one call.
  expect(await client.search.query()).toBe('found');
  expect(await client.ping.query()).toBe('pong');
  expect(await client.read.query()).toBe('read');
  await expect(client.read.query()).rejects.toThrow('The rate limit of 7 calls');
  expect(await client.ping.query()).toBe('pong');
});

it('two gateways with one state share a rate limit over REST, tRPC and WebSockets', async () => {
  needs('a port');
  const memory = memoryState();
  // Asynchronous, like a database.
  const state: State = { ...memory, take: async (...args) => memory.take(...args) };
  const shared = { rateLimit: { ...rateLimit, calls: 5 }, state };
  const [one, other] = [await startShape(costly, shared), await startShape(costly, shared)];
  const status = async (response: Promise<Response>) => {
    await (await response).text();
    return (await response).status;
  };
  expect(await status(one.rest('/read'))).toBe(200);
  expect(await status(other.server.fetch(`${other.server.origin}/trpc/read`))).toBe(200);
  const client = onSocket<typeof costly>(one.origin);
  // The upgrade was the third call.
  expect(await client.read.query()).toBe('read');
  expect(await client.read.query()).toBe('read');
  await expect(client.read.query()).rejects.toThrow('The rate limit of 5 calls');
  expect(await client.ping.query()).toBe('pong');
  expect(await status(other.rest('/read'))).toBe(429);
});

const keyed = t.router({
  pay: t.procedure.meta({ idempotent: 'required' }).mutation(() => 'paid'),
  note: t.procedure.meta({ idempotent: true }).mutation(() => 'noted'),
  print: t.procedure
    .meta({ idempotent: true, openapi: { method: 'POST', path: '/prints', successStatus: 201 } })
    .input(z.object({ text: z.string() }))
    .output(z.object({ run: z.string(), length: z.int() }))
    .mutation(({ input }) => ({ run: randomUUID(), length: input.text.length })),
});

it('the response to an Idempotency-Key is replayed over REST and tRPC, also with other requests in between', async () => {
  const { origin, server } = await startShape(keyed);
  const print = async (target: string, key: string, text: string) => {
    const response = await server.fetch(`${origin}${target}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ text }),
    });
    return [response.status, response.headers.get('idempotent-replayed'), await response.text()] as const;
  };
  for (const target of ['/v1/prints', '/trpc/print']) {
    // One body arrives in many chunks, and other requests follow it on its connection.
    const texts = ['a', 'b'.repeat(300_000), 'c'];
    const all = () => Promise.all(texts.map((text) => print(target, `${target}-${text[0]}`, text)));
    const first = await all();
    const repeats = await all();
    expect(repeats).toEqual(first.map(([status, , body]) => [status, 'true', body]));
    expect(first.map(([, replayed]) => replayed)).toEqual([null, null, null]);
    expect((await print(target, `${target}-a`, 'b'))[0]).toBe(422);
  }
});

it('a call on a WebSocket of a procedure that requires an Idempotency-Key is rejected with 400, because a message has no headers', async () => {
  needs('a port');
  const { origin } = await startShape(keyed);
  const client = onSocket<typeof keyed>(origin);
  await expect(client.pay.mutate()).rejects.toThrow('Idempotency-Key: is required.');
  expect(await client.note.mutate()).toBe('noted');
});

it('the document has the deadlineMs and the rateLimitCost of an operation', async () => {
  const { document } = await startShape(t.mergeRouters(slow, costly), { rateLimit, callTimeoutMs: 300 });
  const described = (path: string, status: number) =>
    (document.paths[path] as never as Record<string, { responses: Record<number, { description: string }> }>)[
      'get'
    ]?.responses[status]?.description;
  expect(described('/short', 504)).toBe(tooLong(60));
  expect(described('/usual', 504)).toBe('The call timed out. Whether it had an effect is unknown.');
  expect(described('/search', 429)).toBe('The rate limit was exceeded. A call counts as 5.');
  expect(described('/ping', 429)).toBeUndefined();
});

it.each([
  [{ deadlineMs: 0 }, 'deadlineMs is 0; it must be a positive number'],
  [{ rateLimitCost: -1 }, 'rateLimitCost is -1; it must be an integer of 0 or more'],
  [{ openapi: { method: 'GET', path: '/x', deadlineMs: 5 } }, 'deadlineMs is in openapi'],
])('createGateway rejects a procedure with %j', async (meta, message) => {
  const router = t.router({ odd: t.procedure.meta(meta as GatewayMeta).query(() => '') });
  const document = { title: 'Odd', version: '1.0.0' };
  await expect(createGateway({ router, createContext: () => ({}), rateLimit, document })).rejects.toThrow(
    message,
  );
});
