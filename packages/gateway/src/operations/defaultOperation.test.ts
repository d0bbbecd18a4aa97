import { type AnyTRPCRouter } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayOptions } from '../assembly/options.ts';
import type { GatewayMeta, RestMeta } from '../procedures/meta.ts';
import { t, testGateway } from '../testing/testGateway.ts';

// Operations whose method and path are not in the metadata.

const served = t.procedure.meta({ openapi: true });

type Options = Partial<GatewayOptions<AnyTRPCRouter, unknown>>;

async function gatewayOf(router: AnyTRPCRouter, options: Options = {}) {
  const gateway = await testGateway(router, { ...options });
  return {
    send: async (method: 'GET' | 'POST', target: string, body?: unknown) => {
      const response = await gateway.fetch(`http://books.example${target}`, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
      return [response.status, await response.json()];
    },
    /** The operations of the document: `GET /books/list`. */
    operations: async () => {
      const { paths } = (await gateway.document()) as { readonly paths: Record<string, object> };
      return Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      );
    },
  };
}

const books = t.router({
  books: t.router({
    list: t.procedure.input(z.object({ page: z.int().default(1) })).query(({ input }) => input),
    add: t.procedure.input(z.object({ title: z.string() })).mutation(({ input }) => input),
    ticks: t.procedure.subscription(async function* () {
      yield 1;
    }),
    hidden: t.procedure.meta({ openapi: false }).query(() => 1),
    written: t.procedure.meta({ openapi: { method: 'PUT', path: '/books' } }).mutation(() => 1),
  }),
  ping: t.procedure.query(() => 'pong'),
});

describe('the option openapi', () => {
  it('openapi: true serves procedures without metadata by their path: queries by GET, mutations by POST', async () => {
    const { send, operations } = await gatewayOf(books, { openapi: true });
    expect(await operations()).toEqual(['GET /books/list', 'POST /books/add', 'PUT /books', 'GET /ping']);
    expect(await send('GET', '/v1/books/list?page=2')).toEqual([200, { page: 2 }]);
    expect(await send('POST', '/v1/books/add', { title: 'Emma' })).toEqual([200, { title: 'Emma' }]);
    expect(await send('GET', '/v1/ping')).toEqual([200, 'pong']);
    expect(await send('GET', '/v1/books/hidden')).toMatchObject([404, {}]);
    expect(await send('GET', '/v1/books/ticks')).toMatchObject([404, {}]);
  });

  it('a function selects procedures by path, type and metadata, and may return their metadata', async () => {
    const { operations } = await gatewayOf(books, {
      openapi: ({ path, type }) => (path === 'ping' ? { path: '/alive' } : type === 'mutation'),
    });
    expect(await operations()).toEqual(['POST /books/add', 'PUT /books', 'GET /alive']);
  });

  it('a procedure that cannot be served is rejected with openapi: false as its fix', async () => {
    const router = t.router({
      one: t.procedure.output(z.object({ m: z.map(z.string(), z.string()) })).query(() => ({ m: new Map() })),
      two: served.output(z.map(z.string(), z.string())).query(() => new Map()),
    });
    await expect(gatewayOf(router, { openapi: true })).rejects.toThrow(
      'Procedure "one" cannot be served over REST: in its output, "m" is a map, which JSON does not support; use an object or an array; or leave it out, with openapi: false in its metadata.\n' +
        'Procedure "two" cannot be served over REST: in its output, its value is a map, which JSON does not support; use an object or an array.',
    );
  });

  it('a written path and a default one that are the same are rejected', async () => {
    const router = t.router({
      x: t.procedure.meta({ openapi: { method: 'GET', path: '/a/b' } }).query(() => 1),
      a: t.router({ b: t.procedure.query(() => 2) }),
    });
    await expect(gatewayOf(router, { openapi: true })).rejects.toThrow(
      /^Procedure "a\.b" cannot be served over REST: "x" is served at GET \/a\/b too; give one of them another path or method; or leave it out, with openapi: false in its metadata\.$/,
    );
  });
});

describe('metadata without a method or a path', () => {
  it.each<[what: string, input: z.ZodType | undefined, method: 'GET' | 'POST', value: unknown]>([
    ['no input', undefined, 'GET', undefined],
    ['scalar properties', z.object({ a: z.int().optional() }), 'GET', {}],
    ['nested objects', z.object({ a: z.object({ b: z.int() }).optional() }), 'GET', {}],
    ['an input that is no object', z.array(z.int()), 'POST', [1]],
    ['an array of objects', z.object({ a: z.array(z.object({ b: z.int() })) }), 'POST', { a: [{ b: 1 }] }],
    ['an ambiguous union', z.object({ a: z.union([z.string(), z.int()]) }), 'POST', { a: 1 }],
    ['text or null', z.object({ a: z.string().nullable() }), 'POST', { a: null }],
    ['text, null or nothing', z.object({ a: z.string().nullish() }), 'GET', {}],
    ['anything', z.object({ a: z.unknown() }), 'POST', { a: { b: [1] } }],
  ])('openapi: true serves a query with %s (%s) by %s', async (_what, input, method, value) => {
    const query = (input ? served.input(input) : served).query((opts) => opts.input ?? 'none');
    const { send, operations } = await gatewayOf(t.router({ a: t.router({ query }) }));
    expect(await operations()).toEqual([`${method} /a/query`]);
    const expected = [200, value ?? 'none'];
    expect(await send(method, '/v1/a/query', method === 'POST' ? value : undefined)).toEqual(expected);
  });

  it('a path without a method, and a method without a path, get the other by default', async () => {
    const by = (openapi: RestMeta) => t.procedure.meta({ openapi }).input(z.object({ id: z.string() }));
    const { operations } = await gatewayOf(
      t.router({
        find: by({ path: '/books/{id}' }).query(() => 1),
        save: by({ path: '/books/{id}' }).mutation(() => 1),
        search: by({ method: 'POST' }).query(() => 1),
        both: by({ in: { id: 'body' } }).query(() => 1),
      }),
    );
    expect(await operations()).toEqual(['GET /books/{id}', 'POST /books/{id}', 'POST /search', 'POST /both']);
  });

  it('a subscription with openapi: true is rejected, and one with an event is served by GET', async () => {
    const ticks = (openapi: GatewayMeta['openapi'] & {}) =>
      t.procedure.meta({ openapi }).subscription(async function* () {
        yield 1;
      });
    await expect(gatewayOf(t.router({ ticks: ticks(true) }), { openapi: true })).rejects.toThrow(
      'Procedure "ticks" cannot be served over REST: it is a subscription without a schema of its events; add event: z.object(…) to its metadata.',
    );
    const { operations } = await gatewayOf(t.router({ ticks: ticks({ event: z.number() }) }));
    expect(await operations()).toEqual(['GET /ticks']);
  });
});
