import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { bearer } from '../../auth/schemes/bearer.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import { endless } from '../../testing/streams.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import { createFetch, type FetchInit } from './fetch.ts';

const origin = 'http://pets.example';

const serving = (
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  maxBodySize?: number,
) => createFetch({ handle, ...(maxBodySize !== undefined && { maxBodySize }) });

async function received(input: Request | URL | string, init?: FetchInit): Promise<HttpRequest> {
  let requestOfService: HttpRequest | undefined;
  const fetch = serving((request) => {
    requestOfService = request;
    return { status: 204, headers: [] };
  });
  await fetch(input, init);
  return requestOfService as HttpRequest;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const never = () => new Promise<never>(() => {});

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
])('the path and query of %s are those that Request serializes', async (url, path, query) => {
  const inUrl = url.includes('@') ? url.replace('user:secret@', '') : url;
  expect(await received(new Request(inUrl))).toMatchObject({ method: 'GET', path, query });
});

it('request.header returns undefined for an empty header and joins headers of one name', async () => {
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

it('request.header("host") returns the authority of the URL if there is no Host header', async () => {
  expect((await received('https://pets.example:8443/v1')).header('host')).toBe('pets.example:8443');
  const headers = { host: 'other.example' };
  expect((await received(origin, { headers })).header('host')).toBe('other.example');
});

it('request.remoteAddress returns the option remoteAddress, or an empty string', async () => {
  expect((await received(new Request(origin), { remoteAddress: '192.0.2.1' })).remoteAddress()).toBe(
    '192.0.2.1',
  );
  expect((await received(origin, { remoteAddress: '192.0.2.2' })).remoteAddress()).toBe('192.0.2.2');
  expect((await received(origin)).remoteAddress()).toBe('');
});

const echo = (max: number, maxBodySize?: number) =>
  serving(async (request) => {
    try {
      return { status: 200, headers: [], body: await request.body(max) };
    } catch (cause) {
      return { status: cause instanceof BodyTooLargeError ? 413 : 400, headers: [], body: String(cause) };
    }
  }, maxBodySize);

/** Creates an endless body, and counts the chunks of two bytes that were pulled. */
function pulledBody() {
  const seen = { pulled: 0, cancelled: 0 };
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    seen.pulled += 1;
    controller.enqueue(bytes('ab'));
  };
  const cancel = () => void (seen.cancelled += 1);
  const body = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
  return { body, seen };
}

it.each([63, 64, 65, 128, 1000])('request.body joins %i chunks of one byte in order', async (count) => {
  const text = Array.from({ length: count }, (_, at) => String.fromCodePoint(97 + (at % 26))).join('');
  const body = ReadableStream.from(Array.from(text, bytes));
  const response = await echo(1000)(origin, { method: 'POST', body, duplex: 'half' });
  expect(await response.text()).toBe(text);
});

it.each([
  ['its reader', 3, 100],
  ['the service', 100, 3],
])('a body over the limit of %s gets 413 and is cancelled', async (_source, max, maxBodySize) => {
  const { body, seen } = pulledBody();
  const response = await echo(max, maxBodySize)(origin, { method: 'POST', body, duplex: 'half' });
  expect([response.status, await response.text()]).toEqual([
    413,
    'BodyTooLargeError: The body is larger than 3 bytes.',
  ]);
  expect(seen).toEqual({ pulled: 2, cancelled: 1 });
});

it('a body over the limit is rejected by its Content-Length before it is read', async () => {
  const pull = vi.fn();
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  const headers = { 'content-length': '4' };
  const response = await echo(3)(origin, { method: 'POST', headers, body, duplex: 'half' });
  expect([response.status, pull.mock.calls.length]).toEqual([413, 0]);
});

it('bodyChunks pulls one chunk at a time, and cancels the body when the iteration stops', async () => {
  const { body, seen } = pulledBody();
  const fetch = serving(async (request) => {
    for await (const chunk of request.bodyChunks(100)) {
      expect(chunk).toEqual(bytes('ab'));
      if (seen.pulled === 3) break;
    }
    expect(request.receivedBytes).toBe(6);
    return { status: 204, headers: [] };
  });
  await fetch(origin, { method: 'POST', body, duplex: 'half' });
  expect(seen).toEqual({ pulled: 3, cancelled: 1 });
});

it('request.body rejects with the reason of the signal when it aborts', async () => {
  const client = new AbortController();
  const cancelled = vi.fn();
  const bodyError = Promise.withResolvers<unknown>();
  const fetch = serving(async (request) => {
    await request.body(10).catch(bodyError.resolve);
    return { status: 499, headers: [] };
  });
  const body = new ReadableStream({ cancel: cancelled });
  const request = new Request(origin, { method: 'POST', body, duplex: 'half', signal: client.signal });
  const response = fetch(request);
  await sleep(5);
  client.abort(new Error('gone'));
  expect(await bodyError.promise).toEqual(new Error('gone'));
  expect([(await response).status, cancelled.mock.calls.length]).toEqual([499, 1]);
});

it('request.body rejects if the stream yields a string', async () => {
  const body = ReadableStream.from(['text']) as ReadableStream<never>;
  const response = await echo(10)(origin, { method: 'POST', body, duplex: 'half' });
  expect(await response.text()).toBe('TypeError: The body of the Request must yield Uint8Array chunks.');
});

const wrongUrls = ['ftp://localhost/a', 'file:///a', 'blob:http://localhost/a', 'data:,a'];
const usedRequest = async () => {
  const request = new Request(origin, { method: 'POST', body: 'x' });
  await request.text();
  return request;
};

type RejectedCall = [what: string, input: () => unknown, init: FetchInit | undefined, message: string];

it.each<RejectedCall>([
  ['what is not a URL', () => 'not a URL', undefined, 'URL'],
  ['a relative URL', () => '/relative', undefined, 'URL'],
  ...wrongUrls.flatMap((url) => {
    const message = `gateway.fetch needs an http: or https: URL, not "${url}".`;
    return [url, new Request(url)].map((input): RejectedCall => {
      return [`${input === url ? '' : 'a Request of '}${url}`, () => input, undefined, message];
    });
  }),
  ...[null, 5, {}].map((address): RejectedCall => {
    const init = { remoteAddress: address as never };
    const message = 'remoteAddress must be a string: the IP address of the client.';
    return [`the remoteAddress ${JSON.stringify(address)}`, () => origin, init, message];
  }),
  [
    'a Request whose body was already read',
    usedRequest,
    undefined,
    'The body of this Request was already read. Call fetch before you read it, or with a clone of the Request.',
  ],
])('fetch rejects %s with a TypeError', async (_what, input, init, message) => {
  const failure = received((await input()) as Request, init);
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow(message);
});

it.each<[what: string, status: number, headers: HttpResponse['headers'], sent: number]>([
  ['the status 204', 204, [], 204],
  ['the status 205', 205, [], 205],
  ['the status 304', 304, [], 304],
  ['an invalid header', 200, [['x-a', 'a\nb']], 500],
])('the stream of a response with %s is returned, and not read', async (_what, status, headers, sent) => {
  const { iterable: body, seen } = endless(never);
  const response = await serving(() => ({ status, headers, body }))(origin);
  expect([response.status, seen]).toEqual([sent, { requested: 0, returned: 1 }]);
});

/** Serves a body of the numbers from 1 on. */
function counting(until = Infinity) {
  const { iterable, seen } = endless((number) => bytes(`${number} `), until);
  return { seen, fetch: serving(() => ({ status: 200, headers: [], body: iterable })) };
}

it('a streamed response is produced only when its reader reads', async () => {
  const { fetch, seen } = counting(3);
  const response = await fetch(origin);
  await sleep(5);
  expect(seen.requested).toBe(0);
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value).toEqual(bytes('1 '));
  await sleep(5);
  expect(seen.requested).toBe(1);
  const rest = [await reader?.read(), await reader?.read(), await reader?.read()];
  expect(rest.map((result) => result?.value)).toEqual([bytes('2 '), bytes('3 '), undefined]);
  expect(seen.returned).toBe(0);
});

it.each([0, 1])(
  'cancelling a streamed response returns its iterator, with %d pending requests for a chunk',
  async (requested) => {
    const { iterable, seen } = endless(never);
    const response = await serving(() => ({ status: 200, headers: [], body: iterable }))(origin);
    const reader = response.body?.getReader();
    if (requested > 0) void reader?.read();
    await reader?.cancel();
    expect(seen).toEqual({ requested, returned: 1 });
  },
);

it.each(['after', 'before'])(
  'a streamed response fails with the reason of a signal that aborts %s its first read',
  async (when) => {
    const { fetch, seen } = counting();
    const client = new AbortController();
    if (when === 'before') client.abort(new Error('gone'));
    const response = await fetch(new Request(origin, { signal: client.signal }));
    const reader = response.body?.getReader();
    if (when === 'after') await reader?.read();
    client.abort(new Error('gone'));
    await expect(reader?.read()).rejects.toThrow(new Error('gone'));
    expect(seen.returned).toBe(1);
  },
);

it.each(['a URL', 'a Request'])(
  'a signal passed with %s rejects the call when it aborts, as with the global fetch',
  async (what) => {
    const fetch = serving(never);
    const client = new AbortController();
    const { signal } = client;
    const input = what === 'a URL' ? origin : new Request(origin);
    const response = fetch(input, { signal });
    client.abort(new Error('gone'));
    await expect(response).rejects.toThrow(new Error('gone'));
    await expect(fetch(input, { signal })).rejects.toThrow(new Error('gone'));
  },
);

it('an aborted signal of a server’s Request does not reject the call', async () => {
  const client = new AbortController();
  const serviceResponse = Promise.withResolvers<HttpResponse>();
  const response = serving(() => serviceResponse.promise)(new Request(origin, { signal: client.signal }));
  client.abort();
  serviceResponse.resolve({ status: 499, headers: [] });
  expect((await response).status).toBe(499);
});

const router = t.router({
  greet: t.procedure
    .meta({ openapi: { method: 'GET', path: '/greet', protect: false } })
    .query(() => 'Hello'),
  secret: t.procedure.query(() => 'secret'),
});

it('gateway.fetch counts clients without remoteAddress as one for rateLimit, and others separately', async () => {
  const { fetch } = await testGateway(router, {
    rateLimit: { calls: 1, windowMs: 60_000 },
    trustProxy: ['0.0.0.0/0', '::/0'],
  });
  const send = async (forwarded: string, init?: FetchInit) => {
    const request = new Request(`${origin}/v1/greet`, { headers: { 'x-forwarded-for': forwarded } });
    return (await fetch(request, init)).status;
  };
  expect([await send('192.0.2.1'), await send('192.0.2.2')]).toEqual([200, 429]);
  expect(vi.spyOn(console, 'error').mock.calls.splice(0).flat()).toEqual([
    expect.stringContaining(
      'Pass the IP address of the connection: gateway.fetch(request, { remoteAddress }).',
    ),
  ]);
  const remoteAddress = '203.0.113.1';
  expect([await send('192.0.2.1', { remoteAddress }), await send('192.0.2.2', { remoteAddress })]).toEqual([
    200, 200,
  ]);
  expect(await send('192.0.2.1', { remoteAddress })).toBe(429);
});

it('gateway.fetch accepts a valid token after many invalid ones from clients without remoteAddress', async () => {
  const { fetch } = await testGateway(router, {
    authentication: bearer({ verify: (token) => token === 'good' }),
    failedAttempts: { attempts: 2, windowMs: 60_000 },
  });
  const call = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${origin}/trpc/secret`, { headers })).status;
  };
  expect([await call('bad'), await call('bad'), await call('bad'), await call('good')]).toEqual([
    401, 401, 429, 200,
  ]);
});

it('a `Response` that keeps its `Headers`, as that of @hono/node-server, has those of its own response alone, also when the server adds others', async () => {
  class KeepingResponse {
    readonly headers: Headers;
    constructor(_body: unknown, { headers }: { readonly headers: Headers }) {
      this.headers = headers;
    }
  }
  const sharedHeaders = [['x-shared', 'a']] as const;
  let count = 0;
  const fetch = serving(() => ({ status: 200, sharedHeaders, headers: [[`x-${++count}`, 'b']], body: '' }));
  const native = await fetch(origin);
  vi.stubGlobal('Response', KeepingResponse);
  onTestFinished(() => void vi.unstubAllGlobals());
  const first = await fetch(origin);
  first.headers.set('x-added', 'c');
  const second = await fetch(origin);
  const names = ({ headers }: Response) => Array.from(headers.keys());
  expect([native, first, second].map(names)).toEqual([
    ['x-1', 'x-shared'],
    ['x-2', 'x-added', 'x-shared'],
    ['x-3', 'x-shared'],
  ]);
});
