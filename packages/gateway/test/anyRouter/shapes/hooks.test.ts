import { bearer, createGateway, type HookedCall, type ReportedError } from '@petstore/gateway';
import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../../servers.ts';
import { hooked as router, hookOrder, userStore } from './hooks.ts';
import { post, startShape } from './startShape.ts';

// Hooks before, around and after calls, in place of a middleware in each router: trpc/trpc #4107 (hooks into responses),
// #815 (`beforeEnd`), #718 (`next()`).

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

describe('the order of hooks', () => {
  it.each(['/v1/read?name=Rex', `/trpc/read?${input({ name: 'Rex' })}`])(
    'GET %s runs the hooks in the documented order',
    async (path) => {
      hookOrder.length = 0;
      const { origin, server } = await startShape(router, {
        onRequest: () => void hookOrder.push('onRequest'),
        authentication: bearer({
          verify: () => {
            hookOrder.push('verify');
            return undefined;
          },
        }) as never,
      });
      expect(
        (await server.fetch(`${origin}${path}`, { headers: { authorization: 'Bearer x' } })).status,
      ).toBe(401);
      expect(hookOrder).toEqual(['onRequest', 'verify']);

      hookOrder.length = 0;
      const open = await startShape(router, {
        onRequest: () => void hookOrder.push('onRequest'),
        createContext: () => {
          hookOrder.push('context');
          return {};
        },
        onCall: (_call, next) => {
          hookOrder.push('onCall');
          return next();
        },
        onSend: (_request, response) => {
          hookOrder.push('onSend');
          expect(response.headers.get('X-Content-Type-Options') ?? path.includes('trpc')).toBeTruthy();
        },
        onResponse: () => hookOrder.push('onResponse'),
      });
      expect((await open.server.fetch(`${open.origin}${path}`)).status).toBe(200);
      expect(hookOrder).toEqual([
        'onRequest',
        'context',
        'onCall',
        'middleware',
        'resolver',
        'onSend',
        'onResponse',
      ]);
    },
  );
});

describe('onRequest', () => {
  it('onRequest can answer a request or let it pass, synchronously or by a promise', async () => {
    const { origin, server } = await startShape(router, {
      onRequest: ({ path }) => {
        if (path.includes('now'))
          return { status: 503, headers: [['retry-after', '60']], body: 'Maintenance' };
        if (path.includes('later')) return Promise.resolve({ status: 410, headers: [] });
        return path.includes('read') ? Promise.resolve(undefined) : undefined;
      },
    });
    const now = await server.fetch(`${origin}/v1/now`);
    expect([now.status, await now.text(), now.headers.get('retry-after')]).toEqual([
      503,
      'Maintenance',
      '60',
    ]);
    expect(now.headers.get('x-request-id')).toBeTruthy();
    expect((await server.fetch(`${origin}/trpc/later`)).status).toBe(410);
    expect((await server.fetch(`${origin}/v1/read?name=Rex`)).status).toBe(200);
    expect((await server.fetch(`${origin}/openapi.json`)).status).toBe(200);
    expect((await server.fetch(`${origin}/v1/now`, { method: 'OPTIONS' })).status).toBe(404);
  });

  it('an error that onRequest throws rejects the request in the error format of the protocol', async () => {
    const { restJson, origin, server } = await startShape(router, {
      onRequest: ({ query }) => {
        if (query.includes('crash')) throw new Error('secret');
        throw new TRPCError({ code: 'FORBIDDEN', message: 'Not from here.' });
      },
    });
    expect(await restJson('/read')).toEqual([
      403,
      { code: 'FORBIDDEN', message: 'Not from here.', status: 403 },
    ]);
    expect(await (await server.fetch(`${origin}/trpc/read`)).json()).toMatchObject({
      error: { message: 'Not from here.', data: { httpStatus: 403 } },
    });
    for (const path of ['/v1/read?crash', '/trpc/read?crash', '/elsewhere?crash']) {
      const crashed = await server.fetch(`${origin}${path}`);
      expect(crashed.status).toBe(500);
      expect(await crashed.text()).not.toContain('secret');
    }
  });

  it('onRequest can reject a WebSocket upgrade', async () => {
    needs('a port');
    const { origin } = await startShape(router, {
      onRequest: ({ query }) => (query === 'no' ? { status: 403, headers: [] } : undefined),
    });
    const open = (query: string) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc?${query}`);
        socket.once('open', () => {
          resolve('open');
          socket.close();
        });
        socket.once('error', ({ message }) => resolve(message));
      });
    expect(await open('yes')).toBe('open');
    expect(await open('no')).toContain('403');
  });
});

describe('onCall', () => {
  const seen: Pick<HookedCall<unknown>, 'ctx' | 'path' | 'type'>[] = [];
  const start = () =>
    startShape(router, {
      createContext: () => ({ user: 'ada' }),
      onCall: ({ ctx, path, type }, next) => {
        seen.push({ ctx, path, type });
        return userStore.run('ada', next);
      },
    });

  it('onCall runs around each call of each protocol', async () => {
    seen.length = 0;
    const { origin, rest, restJson, server } = await start();
    expect(await restJson('/read?name=Rex')).toEqual([200, 'Rex of ada']);
    const client = createTRPCClient<typeof router>({
      links: [httpBatchLink({ url: `${origin}/trpc`, fetch: server.fetch as never })],
    });
    const results = await Promise.allSettled([client.read.query({ name: 'Bo' }), client.conflict.query()]);
    expect(results).toMatchObject([{ value: 'Bo of ada' }, { reason: { message: 'Taken.' } }]);
    expect(await (await rest('/ticks')).text()).toContain('data: 1');
    expect(seen).toEqual(
      (
        [
          ['read', 'query'],
          ['read', 'query'],
          ['conflict', 'query'],
          ['ticks', 'subscription'],
        ] as const
      ).map(([path, type]) => ({ path, type, ctx: { user: 'ada' } })),
    );
  });

  it('onCall runs around calls on a WebSocket', async () => {
    needs('a port');
    const { origin } = await start();
    const ws = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc`, WebSocket: WebSocket as never });
    onTestFinished(() => ws.close());
    const client = createTRPCClient<typeof router>({ links: [wsLink({ client: ws })] });
    expect(await client.read.query({ name: 'Rex' })).toBe('Rex of ada');
  });

  it('onCall can read the raw input and the result, replace the result, and reject the call by an error', async () => {
    const results: unknown[] = [];
    const { restJson } = await startShape(router, {
      onCall: async ({ path, getRawInput }, next) => {
        if (path === 'crash') throw new TRPCError({ code: 'FORBIDDEN', message: 'Not today.' });
        if (path === 'upload') return { ok: true, data: await getRawInput() };
        const result = await next();
        results.push(result);
        return result;
      },
    });
    expect(await restJson('/conflict')).toMatchObject([409, { message: 'Taken.' }]);
    expect(await restJson('/read?name=R')).toMatchObject([400, { code: 'BAD_REQUEST' }]);
    expect(results).toMatchObject([
      { ok: false, error: { code: 'CONFLICT' } },
      { ok: false, error: { code: 'BAD_REQUEST' } },
    ]);
    expect(await restJson('/crash')).toMatchObject([403, { message: 'Not today.' }]);
    expect(await restJson('/upload', post({ size: 5 }))).toEqual([200, { size: 5 }]);
  });

  it('a call is answered with 500 if onCall returns undefined', async () => {
    const { records, restJson } = await startShape(router, { onCall: (() => {}) as never });
    expect((await restJson('/read?name=Rex'))[0]).toBe(500);
    expect(String(records[0]?.error)).toContain('Return the value of next().');
  });
});

describe('onSend', () => {
  it('onSend can replace the headers of the gateway, including X-Request-Id', async () => {
    const { rest } = await startShape(router, {
      onSend: (_request, { headers }) => headers.set('X-Request-Id', `edge-${headers.get('x-request-id')}`),
    });
    const { headers } = await rest('/read', { headers: { 'x-request-id': 'a' } });
    expect(headers.get('x-request-id')).toBe('edge-a');
  });

  it('onSend can change the status and the headers of REST, tRPC and routes', async () => {
    const { origin, server } = await startShape(router, {
      routes: {
        '/page': () => ({
          status: 200,
          headers: [
            ['x-old', '1'],
            ['content-type', 'text/plain'],
          ],
          body: 'page',
        }),
      },
      onSend: (request, response) => {
        response.headers.set('X-Path', request.path);
        response.headers.append('Set-Cookie', 'a=1');
        response.headers.append('Set-Cookie', 'b=2');
        response.headers.delete('X-Old');
        if (response.headers.get('content-type')?.startsWith('application/json')) {
          response.headers.set('content-type', 'application/json; charset=utf-8');
        }
        if (response.status === 409) response.status = 422;
      },
    });
    for (const [path, status] of [
      ['/v1/read?name=Rex', 200],
      ['/v1/conflict', 422],
      ['/trpc/conflict', 422],
      ['/page', 200],
    ] as const) {
      const response = await server.fetch(`${origin}${path}`);
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get('x-path')).toBe(path.split('?')[0]);
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
      expect(response.headers.get('x-old')).toBeNull();
      expect(response.headers.get('content-type')).toBe(
        path === '/page' ? 'text/plain' : 'application/json; charset=utf-8',
      );
    }
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['returns a promise', async () => {}],
    [
      'sets an invalid header',
      (_: unknown, response: never) => (response as { headers: Headers }).headers.set('x', 'a\nb'),
    ],
    [
      'sets an invalid status',
      (_: unknown, response: never) => void ((response as { status: number }).status = 99),
    ],
  ])('a response is a 500 if onSend %s', async (_what, onSend) => {
    const { records, origin, server } = await startShape(router, { onSend: onSend as never });
    for (const path of ['/v1/read?name=Rex', `/trpc/read?${input({ name: 'Rex' })}`]) {
      const response = await server.fetch(`${origin}${path}`);
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'Internal server error',
        status: 500,
      });
      // Without authentication, tRPC responses have only the headers of tRPC's own adapters.
      expect(response.headers.get('x-content-type-options')).toBe(path.startsWith('/v1') ? 'nosniff' : null);
      expect(response.headers.get('x-request-id')).toBeTruthy();
    }
    expect(records.map(({ status }) => status)).toEqual([500, 500]);
  });
});

describe('onError', () => {
  const collect = async (options: Parameters<typeof startShape<typeof router>>[1] = {}) => {
    const errors: ReportedError<unknown>[] = [];
    const shape = await startShape(router, {
      createContext: () => ({ user: 'ada' }),
      onError: (error) => void errors.push(error),
      ...options,
    });
    return {
      ...shape,
      errors,
      seen: () => errors.splice(0).map(({ path, type, error, ctx }) => [path, type, error.code, ctx]),
    };
  };
  const ctx = { user: 'ada' };

  it('onError is called once for each error of each protocol', async () => {
    const { rest, seen, server, origin } = await collect();
    await rest('/conflict');
    expect(seen()).toEqual([['conflict', 'query', 'CONFLICT', ctx]]);
    await rest('/crash');
    expect(seen()).toEqual([['crash', 'query', 'INTERNAL_SERVER_ERROR', ctx]]);
    await rest('/nowhere');
    expect(seen()).toEqual([[undefined, 'unknown', 'NOT_FOUND', undefined]]);
    await server.fetch(`${origin}/trpc/conflict`);
    expect(seen()).toEqual([['conflict', 'query', 'CONFLICT', ctx]]);
    await server.fetch(`${origin}/trpc/conflict,crash?batch=1&input=%7B%7D`);
    expect(seen()).toEqual([
      ['conflict', 'query', 'CONFLICT', ctx],
      ['crash', 'query', 'INTERNAL_SERVER_ERROR', ctx],
    ]);
    await server.fetch(`${origin}/trpc/conflict`, post({}));
    expect(seen()).toEqual([['conflict', 'query', 'METHOD_NOT_SUPPORTED', ctx]]);
    await server.fetch(`${origin}/elsewhere`);
    expect(seen()).toEqual([[undefined, 'unknown', 'NOT_FOUND', undefined]]);
  });

  it('onError receives the input that a call has read, also if it is invalid', async () => {
    const { errors, rest, server, origin } = await collect();
    await rest('/read?name=R');
    await server.fetch(`${origin}/trpc/read?${input({ name: 'R' })}`);
    await rest('/upload', post({ size: 'large' }));
    await rest('/read');
    await rest('/conflict');
    expect(errors.map(({ input: read, path }) => [path, read])).toEqual([
      ['read', { name: 'R' }],
      ['read', { name: 'R' }],
      ['upload', { size: 'large' }],
      ['read', {}],
      ['conflict', undefined],
    ]);
  });

  it('onError is called for requests that a policy rejects', async () => {
    const { seen, server, origin } = await collect({ rateLimit: { calls: 1, windowSeconds: 3600 } });
    for (const path of ['/v1/ticks', '/v1/ticks', '/trpc/read'])
      await (await server.fetch(`${origin}${path}`)).text();
    expect(seen()).toEqual([
      [undefined, 'unknown', 'TOO_MANY_REQUESTS', undefined],
      [undefined, 'unknown', 'TOO_MANY_REQUESTS', undefined],
    ]);
  });

  it('onError is called for errors on a WebSocket', async () => {
    needs('a port');
    const { origin, seen } = await collect();
    const ws = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc`, WebSocket: WebSocket as never });
    onTestFinished(() => ws.close());
    const client = createTRPCClient<typeof router>({ links: [wsLink({ client: ws })] });
    await expect(client.conflict.query()).rejects.toThrow('Taken.');
    expect(seen()).toEqual([['conflict', 'query', 'CONFLICT', ctx]]);
  });

  it('an error that onError throws changes nothing, onError runs before trpc.onError, and errors are not printed to stderr', async () => {
    const log = vi.spyOn(console, 'error');
    onTestFinished(() => log.mockRestore());
    const reported: string[] = [];
    const gateway = await createGateway({
      router,
      createContext: () => ({}),
      document: { title: 'Errors', version: '1.0.0' },
      onError: async ({ error }) => {
        reported.push(`onError ${error.message}`);
        throw new Error('The log is away.');
      },
      trpc: { onError: ({ error }) => void reported.push(`trpc.onError ${error.message}`) },
    });
    const statuses = await Promise.all(
      ['/v1/crash', '/trpc/crash'].map(
        async (path) => (await gateway.fetch(`http://localhost${path}`)).status,
      ),
    );
    expect(statuses).toEqual([500, 500]);
    expect(reported).toEqual(['onError secret', 'onError secret', 'trpc.onError secret']);
    expect(log).not.toHaveBeenCalled();
  });
});
