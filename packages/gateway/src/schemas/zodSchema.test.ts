import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { initTRPC } from '@trpc/server';
import { expect, it, vi } from 'vitest';
// Before zod 4.1: all copies share the registry of the first, and that of 4.1 rejects what other tests of this process do.
import { z } from 'zod';
import { z as z3 } from 'zod-3.25';
import { z as z325 } from 'zod-3.25/v4';
import { z as z40 } from 'zod-4.0';
import { z as z41 } from 'zod-4.1';
import { z as z44 } from 'zod-4.4';
import * as mini from 'zod-4.4/mini';
import { createGateway } from '../gateway.ts';
import { mcp } from '../protocols/mcp/index.ts';
import { declareErrors } from '../procedures/declareErrors.ts';
import type { GatewayMeta } from '../procedures/meta.ts';

type Zod = typeof z;
// Users write the same code with each. Their types differ.
const versions = Object.entries({ '3.25': z325, '4.0': z40, '4.1': z41, '4.4': z44 }) as unknown as readonly [
  version: string,
  zod: Zod,
][];

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

const serve = (router: Parameters<typeof t.router>[0]) =>
  createGateway({
    router: t.router(router),
    createContext: () => ({}),
    document: { title: 'Books', version: '1' },
    openapi: true,
    mcp: mcp({ tools: ({ path }) => ({ description: path }) }),
    onResponse() {},
  });

/** Schemas that are written alike with zod 3 and zod 4. */
const common = (zod: Zod): Record<string, z.ZodType> => {
  const tag = zod.object({ 'a%': zod.date(), b: zod.string().nullable() });
  const tree: z.ZodType = zod.lazy(() => zod.object({ name: zod.string(), next: tree.optional() }));
  const text = zod.object({ kind: zod.literal('text'), text: zod.string() });
  return {
    tree,
    tags: zod.tuple([tag, tag]).rest(tag),
    kinds: zod.discriminatedUnion('kind', [text, zod.object({ kind: zod.literal('date'), at: zod.date() })]),
    text: zod.string().min(2).max(5).regex(/^a/).describe('Words.'),
    trimmed: zod.string().trim().min(1),
    integer: zod.number().int().min(1).lt(9),
    list: zod.array(zod.boolean()).min(1).max(3),
    strict: zod.object({ a: zod.string() }).strict(),
    loose: zod.object({ a: zod.unknown() }).passthrough(),
    rest: zod.object({ a: zod.string() }).catchall(zod.number()),
    record: zod.record(zod.string(), zod.number()),
    union: zod.union([zod.string(), zod.number(), zod.null()]),
    enumeration: zod.enum(['a', 'b']).default('a'),
    computed: zod.string().default(() => String(Math.random())),
    caught: zod.string().catch('x'),
    read: zod.object({ a: zod.string().brand('A') }).readonly(),
    length: zod.string().transform((sent) => sent.length),
    checked: zod.string().refine(() => true),
  };
};

/** Schemas of all kinds, but for formats and intersections, which versions write in other ways. */
const kinds = (zod: Zod): Record<string, z.ZodType> => {
  const recursive = zod.object({
    get children() {
      return zod.array(recursive);
    },
  });
  // Schemas of zod 4.0 and 4.1 reject an absent property that has `.catch()`.
  const { caught: _caught, ...others } = common(zod);
  return {
    ...others,
    recursive,
    int: zod.int().min(1),
    number: zod.number().gt(1).multipleOf(0.5),
    date: zod.date().describe('When.'),
    literals: zod.literal(['a', 1, null]),
    described: zod.string().meta({ description: 'Words.', examples: ['x'] }),
    written: zod.custom().meta({ override: { type: 'string', format: 'color' } }),
  };
};

async function documentOf(schemas: Readonly<Record<string, z.ZodType>>, zod = z) {
  const procedures = Object.entries(schemas).map(
    ([name, schema]) => [name, t.procedure.input(zod.object({ schema })).mutation(() => name)] as const,
  );
  return (await serve(Object.fromEntries(procedures))).document();
}

it.each(versions)('schemas of zod %s have the JSON Schemas of the newest', async (_, zod) => {
  expect(await documentOf(kinds(zod))).toEqual(await documentOf(kinds(z)));
});

it.each(versions)('the id of a schema of zod %s is its name in the document', async (version, zod) => {
  const id = `Book-${version}`;
  const { components } = await documentOf({ book: zod.object({ title: zod.string() }).meta({ id }) });
  expect(components).toHaveProperty(['schemas', id]);
});

// The gateway has schemas of these names too. In a process where the registry of 4.1 rejects a second schema with an id.
it.each(['Error', 'Problem'])('a schema of zod 4.1 may have the id %s', async (id) => {
  const program = `
    import { z } from 'zod-4.1';
    await import(${JSON.stringify(new URL('../gateway.ts', import.meta.url).href)});
    z.string().meta({ id: '${id}' });`;
  const args = ['--conditions=trpc-gateway-source', '--input-type=module', '-e', program];
  await expect(
    promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname }),
  ).resolves.toBeDefined();
});

const book = (zod: Zod) => {
  const schema = zod.object({ id: zod.number(), since: zod.optional(zod.date()) });
  return t.procedure
    .input(schema)
    .output(schema)
    .query(({ input }) => input);
};

/** Calls a procedure over the three protocols, with valid and with invalid inputs. */
async function callBook({ fetch }: Awaited<ReturnType<typeof serve>>, path: string) {
  const call = async (target: string, init?: RequestInit) => {
    const response = await fetch(new Request(`http://localhost${target}`, init));
    return [response.status, (await response.text()).replaceAll(path, 'book')];
  };
  const accept = 'application/json, text/event-stream';
  const tool = (input: object) => {
    const params = { name: path, arguments: input };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return call('/mcp', { method: 'POST', headers: { 'content-type': 'application/json', accept }, body });
  };
  return {
    rest: await call(`/v1/${path}?id=3&since=2026-01-31T12:00:00Z`),
    invalidRest: await call(`/v1/${path}?id=x`),
    missingRest: await call(`/v1/${path}`),
    trpc: await call(`/trpc/${path}?input=${encodeURIComponent('{"id":3}')}`),
    invalidTrpc: await call(`/trpc/${path}?input=${encodeURIComponent('{"id":"x"}')}`),
    tool: await tool({ id: 3, since: '2026-01-31T12:00:00Z' }),
    invalidTool: await tool({ id: 'x' }),
  };
}

it('one router has schemas of every zod, which respond as those of the newest over each protocol', async () => {
  const all = [...versions, ['mini', mini as unknown as Zod] as const];
  const others = Object.fromEntries(all.map(([, zod], index) => [`b${index}`, book(zod)]));
  const chained = t.procedure
    .input(z40.object({ a: z40.number() }))
    .input(z44.object({ b: z44.number() }))
    .query(({ input: { a, b } }) => a + b);
  const gateway = await serve({ book: book(z), chained, ...others });
  const expected = await callBook(gateway, 'book');
  expect(expected.rest).toEqual([200, '{"id":3,"since":"2026-01-31T12:00:00.000Z"}']);
  expect(expected.invalidTrpc[0]).toBe(400);
  for (const path of Object.keys(others)) expect(await callBook(gateway, path)).toEqual(expected);
  const sum = await gateway.fetch(new Request('http://localhost/v1/chained?a=1&b=2'));
  expect(await sum.json()).toBe(3);
});

it('a schema parses as its own zod does: the keys of a record of zod 4.0 are no numbers', async () => {
  const counts = t.procedure.input(z40.record(z40.number(), z40.int())).mutation(({ input }) => input);
  const { fetch } = await serve({ counts });
  const headers = { 'content-type': 'application/json' };
  const request = new Request('http://localhost/trpc/counts', { method: 'POST', headers, body: '{"1":1}' });
  expect((await fetch(request)).status).toBe(400);
});

it('a schema that cannot be prepared for parsing is an error of the service over each protocol, not of the client', async () => {
  const schema = z.object({ id: z.number() });
  const { def } = schema._zod;
  let isBroken = false;
  Object.defineProperty(schema._zod, 'def', {
    get() {
      if (isBroken) throw new Error('A defect.');
      return def;
    },
  });
  const gateway = await serve({ book: t.procedure.input(schema).query(() => 1) });
  isBroken = true;
  const { rest, tool, trpc } = await callBook(gateway, 'book');
  expect([rest?.[0], trpc?.[0]]).toEqual([500, 500]);
  expect(tool?.[1]).toContain('Internal server error');
});

it('another zod of the gateway than its dependency is rejected at the import, with its version', async () => {
  vi.resetModules();
  vi.doMock('zod/v4/core', async (load) => ({
    ...(await load<object>()),
    version: { major: 4, minor: 4, patch: 3 },
  }));
  await expect(import('./zodSchema.ts')).rejects.toThrow(
    'needs zod 4.5.4 or newer for itself, and found 4.4.3',
  );
  vi.doUnmock('zod/v4/core');
  vi.resetModules();
});

it('options take schemas of every zod', () => {
  const metas: readonly GatewayMeta[] = [
    { openapi: { requestHeaders: z325.object({ a: z325.string() }), event: z325.date() } },
    { openapi: { responseHeaders: z40.object({ a: z40.string() }), event: z40.date() } },
    { openapi: { requestHeaders: z41.object({ a: z41.string() }), event: z41.date() } },
    { openapi: { requestHeaders: z44.object({ a: z44.string() }), event: mini.date() } },
    { openapi: { event: z3.date() } },
    // @ts-expect-error -- no object
    { openapi: { requestHeaders: z44.string() } },
  ];
  expect(metas).toHaveLength(6);
  const errors = declareErrors({
    OLD: { status: 409, data: z325.object({ left: z325.number() }) },
    NEWER: { status: 409, data: z44.object({ left: z44.number() }) },
    SMALL: { status: 409, data: mini.object({ left: mini.number() }) },
  });
  expect(errors.OLD({ data: { left: 1 } }).data).toEqual({ left: 1 });
  expect(errors.NEWER({ data: { left: 1 } }).data).toEqual({ left: 1 });
  // @ts-expect-error -- it is a number
  expect(() => errors.SMALL({ data: { left: '1' } })).toThrow('does not match its schema');
});

it('schemas of zod 3 have the JSON Schemas of zod 4', async () => {
  const zod3 = z3 as unknown as Zod;
  expect(await documentOf(common(zod3), zod3)).toEqual(await documentOf(common(z)));
});

it('a preprocessed property of zod 3 is rejected in a query, as that of zod 4', async () => {
  const ids = z3.preprocess((sent) => String(sent).split(','), z3.array(z3.string()));
  const list = t.procedure.meta({ openapi: { method: 'GET', path: '/list' } }).input(z3.object({ ids }));
  await expect(serve({ list: list.query(() => 1) })).rejects.toThrow(/"ids".*preprocess/);
});

it('schemas of zod 3 are served over each protocol', async () => {
  const node: z3.ZodType = z3.lazy(() => z3.object({ name: z3.string(), next: node.optional() }));
  const tag = z3.object({ name: z3.string() });
  const gateway = await serve({
    book: book(z3 as unknown as Zod),
    list: t.procedure
      .input(
        z3.object({
          node,
          tags: z3.tuple([tag, tag, z3.date()]),
          kind: z3.discriminatedUnion('kind', [
            z3.object({ kind: z3.literal('a'), at: z3.date() }),
            tag.extend({ kind: z3.literal('b') }),
          ]),
          size: z3.number().int().max(10).default(5),
        }),
      )
      .output(z3.object({ size: z3.number().transform(String), isDate: z3.boolean() }))
      .mutation(({ input }) => ({ size: input.size, isDate: input.tags[2] instanceof Date })),
    ping: t.procedure
      .input(z3.object({ a: z3.string() }).optional())
      .query(({ input }) => input ?? 'nothing'),
  });
  const { invalidRest, invalidTool, missingRest, rest, tool, trpc } = await callBook(gateway, 'book');
  expect({ invalidRest, missingRest, rest, trpc }).toEqual({
    rest: [200, '{"id":3,"since":"2026-01-31T12:00:00.000Z"}'],
    invalidRest: [400, '{"code":"BAD_REQUEST","message":"id: must be a number.","status":400}'],
    missingRest: [400, '{"code":"BAD_REQUEST","message":"id: Required.","status":400}'],
    trpc: [200, '{"result":{"data":{"id":3}}}'],
  });
  expect(tool[1]).toContain('"structuredContent":{"id":3,"since":"2026-01-31T12:00:00.000Z"}');
  expect(invalidTool[1]).toContain('"isError":true');
  const input = {
    node: { name: 'a', next: { name: 'b' } },
    tags: [{ name: 'c' }, { name: 'd' }, '2026-01-31T12:00:00Z'],
    kind: { kind: 'b', name: 'e' },
  };
  const post = async (sent: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(sent) };
    return (await gateway.fetch(new Request('http://localhost/v1/list', init))).json();
  };
  expect(await post(input)).toEqual({ size: '5', isDate: true });
  expect(await post({ ...input, node: { name: 'a', next: {} } })).toMatchObject({
    message: 'node.next.name: Required.',
  });
  expect(await post({ ...input, tags: [{ name: 'c' }, { name: 'd' }, '2026-01-31'] })).toMatchObject({
    message: 'tags.2: must be a date-time (RFC 3339), such as 2026-01-31T12:00:00Z.',
  });
  expect(await (await gateway.fetch(new Request('http://localhost/v1/ping'))).json()).toBe('nothing');
});
