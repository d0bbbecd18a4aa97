import { initTRPC, tracked, TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../../gateway.ts';
import { bearer } from '../../policies/schemes/bearer.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { BodyStream, HttpResponse } from '../../http/response.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { createFetch, type FetchInit } from './fetch.ts';

const origin = 'http://pets.example';

/** A service of one handler. */
const serving = (
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  maxBodyBytes?: number,
) => createFetch({ handle, ...(maxBodyBytes !== undefined && { maxBodyBytes }) });

/** What the service receives of a request. */
async function received(input: Request | URL | string, init?: FetchInit): Promise<HttpRequest> {
  let found: HttpRequest | undefined;
  const fetch = serving((request) => {
    found = request;
    return { status: 204, headers: [] };
  });
  await fetch(input, init);
  return found as HttpRequest;
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a request', () => {
  it.each([
    [`${origin}/v1/pets?limit=5&limit=6`, '/v1/pets', 'limit=5&limit=6'],
    [origin, '/', ''],
    [`${origin}?a=1`, '/', 'a=1'],
    [`${origin}/a%2Fb/%C3%A9?q=%20+`, '/a%2Fb/%C3%A9', 'q=%20+'],
    [`${origin}/a#b?c`, '/a', ''],
    [`${origin}/a?b#c`, '/a', 'b'],
    [`${origin}/a?`, '/a', ''],
    [`${origin}/a??b?`, '/a', '?b?'],
    ['https://user:secret@[::1]:8443/a', '/a', ''],
    ['HTTP://PETS.example:80/A/../B', '/B', ''],
  ])('has the path and the query of %s as Request serializes them', async (url, path, query) => {
    const inUrl = url.includes('@') ? url.replace('user:secret@', '') : url;
    expect(await received(new Request(inUrl))).toMatchObject({ method: 'GET', path, query });
  });

  it('has its headers by name, an empty one as none, and several of one name joined', async () => {
    const headers = new Headers([
      ['X-Empty', ''],
      ['Accept', 'a'],
      ['accept', 'b'],
    ]);
    const request = await received(new Request(origin, { headers }));
    expect([request.header('accept'), request.header('x-empty'), request.header('x-none')]).toEqual([
      'a, b',
      undefined,
      undefined,
    ]);
    expect([...request.headers()]).toEqual([
      ['accept', 'a, b'],
      ['x-empty', ''],
    ]);
  });

  it('has the Host of its URL where it has no such header', async () => {
    expect((await received('https://pets.example:8443/v1')).header('host')).toBe('pets.example:8443');
    const headers = { host: 'other.example' };
    expect((await received(origin, { headers })).header('host')).toBe('other.example');
  });

  it('has the address that the caller names, and none otherwise', async () => {
    expect((await received(new Request(origin), { remoteAddress: '192.0.2.1' })).remoteAddress()).toBe(
      '192.0.2.1',
    );
    expect((await received(origin, { remoteAddress: '192.0.2.2' })).remoteAddress()).toBe('192.0.2.2');
    expect((await received(origin)).remoteAddress()).toBe('');
  });

  it('is made of a URL and an init, as fetch makes it', async () => {
    const request = await received(new URL('/a', origin), {
      method: 'PUT',
      headers: [['x', '1']],
      body: 'x=1',
    });
    expect([request.method, request.path, request.header('x')]).toEqual(['PUT', '/a', '1']);
    expect(request.header('content-type')).toBe('text/plain;charset=UTF-8');
  });

  it('is changed by an init beside a Request, as fetch changes it', async () => {
    const request = await received(new Request(`${origin}/a`, { headers: { x: '1' } }), { method: 'DELETE' });
    expect([request.method, request.path, request.header('x')]).toEqual(['DELETE', '/a', '1']);
  });

  it('is taken as it is where a server passes something of its own beside it', async () => {
    const info = { remoteAddr: { hostname: '192.0.2.1' }, completed: Promise.resolve() };
    const request = await received(new Request(origin), info as FetchInit);
    expect(request.remoteAddress()).toBe('');
  });

  it.each([['not a URL'], ['/relative']])('rejects with a TypeError for %s', async (url) => {
    const fetch = serving(() => ({ status: 204, headers: [] }));
    await expect(fetch(url)).rejects.toThrow(TypeError);
  });
});

describe('a body', () => {
  const echo = (max: number, own?: number) =>
    serving(async (request) => {
      try {
        return { status: 200, headers: [], body: await request.body(max) };
      } catch (cause) {
        return { status: cause instanceof BodyTooLargeError ? 413 : 400, headers: [], body: String(cause) };
      }
    }, own);

  it('is read whole, and is empty where the request has none', async () => {
    const fetch = echo(10);
    expect(await (await fetch(origin, { method: 'POST', body: 'äb' })).text()).toBe('äb');
    expect(await (await fetch(origin, { method: 'POST' })).text()).toBe('');
    expect(await (await fetch(origin)).text()).toBe('');
  });

  it('is put together of its chunks, in a buffer of its own', async () => {
    let body: Uint8Array | undefined;
    const fetch = serving(async (request) => {
      body = await request.body(100);
      return { status: 204, headers: [] };
    });
    const chunk = (text: string) => Buffer.from(text);
    await fetch(origin, {
      method: 'POST',
      body: ReadableStream.from([chunk('ab'), chunk('c')]),
      duplex: 'half',
    });
    expect([body, body?.buffer.byteLength]).toEqual([bytes('abc'), 3]);
    await fetch(origin, { method: 'POST', body: ReadableStream.from([chunk('abcd')]), duplex: 'half' });
    expect([body, body?.buffer.byteLength]).toEqual([bytes('abcd'), 4]);
  });

  it.each([
    ['by its reader', 3, 100],
    ['by the service', 100, 3],
  ])('is limited %s while it is read', async (_by, max, own) => {
    let pulled = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(bytes('ab'));
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const response = await echo(max, own)(origin, { method: 'POST', body, duplex: 'half' });
    expect([response.status, await response.text()]).toEqual([
      413,
      'BodyTooLargeError: The body is larger than 3 bytes.',
    ]);
    expect([pulled, isCancelled]).toEqual([2, true]);
  });

  it('is rejected by its Content-Length before it is read', async () => {
    const pull = vi.fn();
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const headers = { 'content-length': '4' };
    const response = await echo(3)(origin, { method: 'POST', headers, body, duplex: 'half' });
    expect([response.status, pull.mock.calls.length]).toEqual([413, 0]);
  });

  it('comes in chunks, each as it is asked for, and is cancelled with them', async () => {
    let pulled = 0;
    const cancelled = vi.fn();
    const fetch = serving(async (request) => {
      for await (const chunk of request.bodyChunks(100)) {
        expect(chunk).toEqual(bytes('ab'));
        if (pulled === 3) break;
      }
      expect(request.receivedBytes).toBe(6);
      return { status: 204, headers: [] };
    });
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(bytes('ab'));
        },
        cancel: cancelled,
      },
      { highWaterMark: 0 },
    );
    await fetch(origin, { method: 'POST', body, duplex: 'half' });
    expect([pulled, cancelled.mock.calls.length]).toEqual([3, 1]);
  });

  it('fails with the reason of the signal while it is waited for', async () => {
    const client = new AbortController();
    const cancelled = vi.fn();
    const failed = Promise.withResolvers<unknown>();
    const fetch = serving(async (request) => {
      await request.body(10).catch(failed.resolve);
      return { status: 499, headers: [] };
    });
    const body = new ReadableStream({ cancel: cancelled });
    const request = new Request(origin, { method: 'POST', body, duplex: 'half', signal: client.signal });
    const response = fetch(request);
    await sleep(5);
    client.abort(new Error('gone'));
    expect(await failed.promise).toEqual(new Error('gone'));
    expect([(await response).status, cancelled.mock.calls.length]).toEqual([499, 1]);
  });

  it('fails where its stream yields other than bytes', async () => {
    const body = ReadableStream.from(['text']) as ReadableStream<never>;
    const response = await echo(10)(origin, { method: 'POST', body, duplex: 'half' });
    expect(await response.text()).toBe(
      'TypeError: The body of the Request yielded a string. Yield Uint8Array chunks.',
    );
  });

  it('that was already read rejects the call with a TypeError that says so', async () => {
    const request = new Request(origin, { method: 'POST', body: 'x' });
    await request.text();
    await expect(echo(10)(request)).rejects.toThrow(
      new TypeError(
        'The body of this Request was already read. Call fetch before it is read, or with a clone of it.',
      ),
    );
  });
});

describe('a response', () => {
  const of = async (response: HttpResponse, method = 'GET') => {
    const made = await serving(() => response)(new Request(origin, { method }));
    return { status: made.status, headers: [...made.headers], body: made.body && (await made.text()) };
  };
  const json = ['Content-Type', 'application/json'] as const;

  it('has the status, the headers and the body of the service', async () => {
    expect(await of({ status: 201, headers: [json], sharedHeaders: [['x', '1']], body: '{}' })).toEqual({
      status: 201,
      headers: [
        ['content-type', 'application/json'],
        ['x', '1'],
      ],
      body: '{}',
    });
    expect((await of({ status: 200, headers: [], body: bytes('ab') })).body).toBe('ab');
    expect((await of({ status: 404, headers: [] })).body).toBeNull();
  });

  it('has no content type that the service did not give', async () => {
    expect(await of({ status: 200, headers: [], body: 'ä' })).toEqual({
      status: 200,
      headers: [],
      body: 'ä',
    });
  });

  it('keeps several Set-Cookie headers apart', async () => {
    const headers = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ] as const;
    const response = await serving(() => ({ status: 200, headers }))(origin);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it.each([[204], [205], [304]])(
    'with the status %d has no body, and its stream is ended',
    async (status) => {
      const returned = vi.fn(async () => ({ done: true as const, value: undefined }));
      const body: BodyStream = { [Symbol.asyncIterator]: () => ({ next: vi.fn(), return: returned }) };
      expect(await of({ status, headers: [], body })).toEqual({ status, headers: [], body: null });
      expect(await of({ status, headers: [], body: 'x' })).toEqual({ status, headers: [], body: null });
      expect(await of({ status, headers: [], body: 'x' }, 'HEAD')).toEqual({
        status,
        headers: [],
        body: null,
      });
      expect(returned).toHaveBeenCalledOnce();
    },
  );

  it('to HEAD has the Content-Length of the body, in bytes, and not the body', async () => {
    const headers = [['content-length', '3']];
    expect(await of({ status: 200, headers: [], body: 'aä' }, 'HEAD')).toEqual({
      status: 200,
      headers,
      body: null,
    });
    expect((await of({ status: 200, headers: [], body: bytes('abc') }, 'HEAD')).headers).toEqual(headers);
    expect((await of({ status: 200, headers: [] }, 'HEAD')).headers).toEqual([['content-length', '0']]);
    const body = ReadableStream.from([bytes('a')]);
    expect(await of({ status: 200, headers: [], body }, 'HEAD')).toEqual({
      status: 200,
      headers: [],
      body: null,
    });
  });

  it('has header values beyond ASCII as the bytes of their UTF-8, as other adapters write them', async () => {
    const { headers } = await of({ status: 200, headers: [['x', 'é€']] });
    expect(headers).toEqual([['x', Buffer.from('é€').toString('latin1')]]);
  });

  it.each<[string, unknown]>([
    ['the status 101', { status: 101, headers: [] }],
    ['the status 600', { status: 600, headers: [] }],
    ['a status that is not a number', { status: '200', headers: [] }],
    ['a header with a line break', { status: 200, headers: [['x', 'a\r\nb: c']] }],
    ['a header name that is not a token', { status: 200, headers: [['a b', 'c']] }],
    ['a header that frames the message', { status: 200, headers: [['Content-Length', '5']] }],
    ['a body that is a number', { status: 200, headers: [], body: 5 }],
    ['nothing', undefined],
  ])('with %s is replaced by 500', async (_what, response) => {
    expect(await of(response as HttpResponse)).toEqual({
      status: 500,
      headers: [['content-type', 'application/json']],
      body: '{"code":"INTERNAL_SERVER_ERROR","message":"Internal server error","status":500}',
    });
  });

  it('is 500 where the service throws or rejects', async () => {
    const thrown = serving(() => {
      throw new Error('not for clients');
    });
    const rejected = serving(async () => {
      throw new Error('not for clients');
    });
    expect([(await thrown(origin)).status, (await rejected(origin)).status]).toEqual([500, 500]);
  });
});

describe('a stream', () => {
  /** A body of the numbers from 1 on. */
  function counting(until = Infinity) {
    const seen = { next: 0, returned: 0 };
    const body: BodyStream = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          seen.next += 1;
          return seen.next > until
            ? { done: true, value: undefined }
            : { done: false, value: bytes(`${seen.next} `) };
        },
        async return() {
          seen.returned += 1;
          return { done: true, value: undefined };
        },
      }),
    };
    return { seen, body, fetch: serving(() => ({ status: 200, headers: [], body })) };
  }

  it('is produced as its reader asks, and not before', async () => {
    const { fetch, seen } = counting(3);
    const response = await fetch(origin);
    await sleep(5);
    expect(seen.next).toBe(0);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toEqual(bytes('1 '));
    await sleep(5);
    expect(seen.next).toBe(1);
    const rest = [await reader?.read(), await reader?.read(), await reader?.read()];
    expect(rest.map((result) => result?.value)).toEqual([bytes('2 '), bytes('3 '), undefined]);
    expect(seen.returned).toBe(0);
  });

  it('that its reader cancels ends its iterator, even while the next chunk is awaited', async () => {
    const returned = vi.fn(async () => ({ done: true as const, value: undefined }));
    const body: BodyStream = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: returned }),
    };
    const response = await serving(() => ({ status: 200, headers: [], body }))(origin);
    const reader = response.body?.getReader();
    void reader?.read();
    await reader?.cancel();
    expect(returned).toHaveBeenCalledOnce();
  });

  it('that is cancelled before it is read ends its iterator', async () => {
    const { fetch, seen } = counting();
    await (await fetch(origin)).body?.cancel();
    expect(seen).toEqual({ next: 0, returned: 1 });
  });

  it('fails with the error of its iterator', async () => {
    async function* body() {
      yield bytes('a');
      throw new Error('broken');
    }
    const response = await serving(() => ({ status: 200, headers: [], body: body() }))(origin);
    await expect(response.text()).rejects.toThrow(new Error('broken'));
  });

  it.each(['after', 'before'])('fails with the reason of a signal that aborts %s it begins', async (when) => {
    const { fetch, seen } = counting();
    const client = new AbortController();
    if (when === 'before') client.abort(new Error('gone'));
    const response = await fetch(new Request(origin, { signal: client.signal }));
    const reader = response.body?.getReader();
    if (when === 'after') await reader?.read();
    client.abort(new Error('gone'));
    await expect(reader?.read()).rejects.toThrow(new Error('gone'));
    expect(seen.returned).toBe(1);
  });
});

describe('a signal', () => {
  it('aborts the signal of the request', async () => {
    const client = new AbortController();
    const request = await received(new Request(origin, { signal: client.signal }));
    expect(request.isAborted).toBe(false);
    client.abort(new Error('gone'));
    expect([request.isAborted, request.signal.reason]).toEqual([true, new Error('gone')]);
  });

  it('given with a URL rejects the call when it aborts, as fetch does', async () => {
    const fetch = serving(() => new Promise(() => {}));
    const client = new AbortController();
    const response = fetch(origin, { signal: client.signal });
    client.abort(new Error('gone'));
    await expect(response).rejects.toThrow(new Error('gone'));
    await expect(fetch(origin, { signal: client.signal })).rejects.toThrow(new Error('gone'));
  });

  it('of a Request that a server made leaves the response to the service', async () => {
    const client = new AbortController();
    const answered = Promise.withResolvers<HttpResponse>();
    const response = serving(() => answered.promise)(new Request(origin, { signal: client.signal }));
    client.abort();
    answered.resolve({ status: 499, headers: [] });
    expect((await response).status).toBe(499);
  });
});

describe('gateway.fetch', () => {
  const t = initTRPC.context<{ user: string | undefined }>().meta<GatewayMeta>().create({ isDev: false });
  const until = Promise.withResolvers<AbortSignal | undefined>();
  const router = t.router({
    greet: t.procedure
      .meta({ openapi: { method: 'GET', path: '/greet/{name}', protect: false } })
      .input(z.object({ name: z.string() }))
      .output(z.string())
      .query(({ input }) => `Hello ${input.name}`),
    add: t.procedure
      .input(z.object({ a: z.number(), b: z.number() }))
      .mutation(({ input }) => input.a + input.b),
    fail: t.procedure.query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'Taken.' });
    }),
    count: t.procedure.subscription(async function* () {
      yield tracked('1', { n: 1 });
      yield tracked('2', { n: 2 });
    }),
    later: t.procedure.query(() => ({ soon: Promise.resolve(5) })),
    slow: t.procedure.query(({ signal }) => {
      until.resolve(signal);
      return new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    }),
    form: t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => input.get('a')),
    octets: t.procedure
      .input(z.instanceof(ReadableStream<Uint8Array>))
      .mutation(async ({ input }) => new Response(input).text()),
  });
  const options = {
    router,
    createContext: () => ({ user: undefined }),
    document: { title: 'Greetings', version: '1.0.0' },
  };
  const gateway = createGateway(options);

  const post = (
    path: string,
    body: FormData | Uint8Array<ArrayBuffer> | string,
    headers?: Record<string, string>,
  ) => new Request(`${origin}${path}`, { method: 'POST', body, ...(headers && { headers }) });
  const json = { 'content-type': 'application/json' };
  const input = (value: unknown) => encodeURIComponent(JSON.stringify(value));
  const form = new FormData();
  form.set('a', 'b');

  it.each<[string, () => Request]>([
    ['a query', () => new Request(`${origin}/trpc/greet?input=${input({ name: 'Ada' })}`)],
    ['an invalid input', () => new Request(`${origin}/trpc/greet?input=5`)],
    ['a mutation', () => post('/trpc/add', '{"a":1,"b":2}', json)],
    ['a malformed body', () => post('/trpc/add', '{', json)],
    ['a body without a media type', () => post('/trpc/add', bytes('{}'))],
    ['an error', () => new Request(`${origin}/trpc/fail`)],
    ['an unknown procedure', () => new Request(`${origin}/trpc/nothing`)],
    ['a batch', () => new Request(`${origin}/trpc/greet,fail?batch=1&input=${input({ 0: { name: 'A' } })}`)],
    ['a batch of mutations', () => post('/trpc/add,add?batch=1', '{"0":{"a":1,"b":2},"1":{}}', json)],
    ['HEAD', () => new Request(`${origin}/trpc/greet`, { method: 'HEAD' })],
    ['a subscription', () => new Request(`${origin}/trpc/count`)],
    ['a form', () => post('/trpc/form', form)],
    ['octets', () => post('/trpc/octets', bytes('abc'), { 'content-type': 'application/octet-stream' })],
    [
      'JSON lines',
      () => new Request(`${origin}/trpc/later?batch=1`, { headers: { 'trpc-accept': 'application/jsonl' } }),
    ],
  ])('answers %s as the fetch adapter of tRPC does', async (_what, request) => {
    const ours = await (await gateway).fetch(request());
    const theirs = await fetchRequestHandler({
      req: request(),
      router,
      endpoint: '/trpc',
      createContext: options.createContext,
    });
    // Its framing is the server's: `connection` and `transfer-encoding` are none of a Response.
    const own = new Set(['x-request-id', 'connection', 'transfer-encoding']);
    const read = async (response: Response) => ({
      status: response.status,
      headers: [...response.headers].filter(([name]) => !own.has(name)),
      body: (await response.text()).split('\n').toSorted(),
    });
    expect(await read(ours)).toEqual(await read(theirs));
  });

  it('needs no `this`', async () => {
    const { fetch } = await gateway;
    expect(await (await fetch(`${origin}/v1/greet/Ada`)).json()).toBe('Hello Ada');
    expect(await (await fetch(`${origin}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
  });

  it('has no WebSockets: a request to open one is answered like any other', async () => {
    const { fetch } = await gateway;
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      authorization: 'Bearer good',
    };
    const response = await fetch(new Request(`${origin}/trpc`, { headers }));
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { data: { code: 'NOT_FOUND' } } },
    ]);
  });

  it('aborts the signal of a call by that of its request', async () => {
    const { fetch } = await gateway;
    const client = new AbortController();
    const response = fetch(new Request(`${origin}/trpc/slow`, { signal: client.signal }));
    const signal = await until.promise;
    client.abort();
    expect([signal?.aborted, (await response).status]).toEqual([true, 499]);
  });

  it('counts clients without an address as one, whatever X-Forwarded-For says, and those with one apart', async () => {
    const { fetch } = await createGateway({
      ...options,
      rateLimit: { requests: 1, windowSeconds: 60 },
      trustProxy: ['0.0.0.0/0', '::/0'],
    });
    const send = async (forwarded: string, init?: FetchInit) => {
      const request = new Request(`${origin}/v1/greet/Ada`, { headers: { 'x-forwarded-for': forwarded } });
      return (await fetch(request, init)).status;
    };
    expect([await send('192.0.2.1'), await send('192.0.2.2')]).toEqual([200, 429]);
    const remoteAddress = '203.0.113.1';
    expect([await send('192.0.2.1', { remoteAddress }), await send('192.0.2.2', { remoteAddress })]).toEqual([
      200, 200,
    ]);
    expect(await send('192.0.2.1', { remoteAddress })).toBe(429);
  });

  it('accepts a good token after any number of bad ones from clients without an address', async () => {
    const { fetch } = await createGateway({
      ...options,
      authentication: bearer({ verify: (token) => token === 'good' }),
      failedAttempts: { attempts: 2, windowSeconds: 60 },
    });
    const call = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${origin}/trpc/fail`, { headers })).status;
    };
    expect([await call('bad'), await call('bad'), await call('bad'), await call('good')]).toEqual([
      401, 401, 429, 409,
    ]);
  });
});
