import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { trpcToOpenApi } from '../trpcToOpenApi/trpcToOpenApi.ts';
import type { Deprecation, RestMeta } from '../procedures/meta.ts';
import { t, testGateway } from '../testing/testGateway.ts';
import { documentedOperation, type Options } from '../testing/documentedOperation.ts';

const Out = z.object({ id: z.int() });

const find = (input: z.ZodType, rest: Partial<RestMeta> = {}) =>
  t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{id}', ...rest } })
    .input(input)
    .output(Out)
    .query(() => ({ id: 1 }));

const since = new Date('2026-01-01T00:00:00Z');
const sunset = new Date('2030-01-01T00:00:00Z');

describe('the headers of a deprecated operation', () => {
  it.each<[string, Deprecation, readonly string[]]>([
    ['since', { since }, ['Deprecation']],
    ['sunset', { since, sunset }, ['Deprecation', 'Sunset']],
    ['successor', { since, successor: '/pets' }, ['Deprecation', 'Link']],
    ['documentation', { since, documentation: '/docs' }, ['Deprecation', 'Link']],
  ])('deprecation.%s is documented on 200 and 404, and sent with both', async (_, deprecation, expected) => {
    const procedure = t.procedure
      .meta({ openapi: { method: 'GET', path: '/pets/{id}', deprecation } })
      .input(z.object({ id: z.int() }))
      .output(Out)
      .query(({ input: { id } }) => {
        if (id === 0) throw new TRPCError({ code: 'NOT_FOUND' });
        return { id };
      });
    const { responses } = await documentedOperation(procedure);
    const { fetch } = await testGateway(t.router({ procedure }));
    for (const [status, id] of [
      [200, 1],
      [404, 0],
    ] as const) {
      const names = Object.keys(responses[status]?.headers ?? {});
      expect([status, names.filter((name) => name !== 'X-Request-Id').toSorted()]).toEqual([
        status,
        expected,
      ]);
      const response = await fetch(`http://pets.example/v1/pets/${id}`);
      expect([response.status, expected.filter((name) => response.headers.has(name))]).toEqual([
        status,
        expected,
      ]);
    }
    expect(Object.keys(responses['500']?.headers ?? {})).toEqual(['X-Request-Id']);
  });
});

describe('a parameter of a query that cannot be empty', () => {
  const id = { id: z.int() };
  const strings = z.array(z.string());
  it.each<[string, z.ZodType, object]>([
    ['a required list', strings, { minItems: 1 }],
    ['a required list with a minimum', strings.min(2), { minItems: 2 }],
    ['an optional list', strings.optional(), {}],
    ['a required object', z.object({ a: z.string().optional() }), { minProperties: 1 }],
  ])('%s is documented with its minimum', async (_, schema, expected) => {
    const { parameters } = await documentedOperation(find(z.object({ ...id, list: schema })));
    const { minItems, minProperties } = parameters?.find(({ name }) => name === 'list')?.schema ?? {};
    expect({ minItems, minProperties }).toEqual(expected);
  });
});

it.each<[schema: z.ZodType, text: object]>([
  [z.string().nullish().describe('A name.'), { type: 'string', description: 'A name.' }],
  [z.enum(['s', 'm']).nullable().default(null), { type: 'string', enum: ['s', 'm'] }],
  [
    z.union([z.number().min(1), z.boolean(), z.null()]).optional(),
    { anyOf: [{ type: 'number', minimum: 1 }, { type: 'boolean' }] },
  ],
  [z.literal(['up', null]).optional(), { type: 'string', enum: ['up'] }],
  [
    z.object({ a: z.string().nullish() }).nullish(),
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  [z.null().optional(), { type: 'null' }],
])('no parameter in the document has null beside other values: %#', async (schema, text) => {
  const { parameters } = await documentedOperation(find(z.object({ id: z.int(), q: schema })));
  expect(parameters?.find(({ name }) => name === 'q')?.schema).toEqual(text);
});

it('a form in the document has no null', async () => {
  const rest = { method: 'POST', path: '/add', contentTypes: ['multipart/form-data'] } as const;
  const add = find(z.object({ name: z.string().nullish() }), rest);
  expect(JSON.stringify(await documentedOperation(add))).not.toContain('"null"');
});

it('operations whose metadata has no operationId and no summary get one of their path', async () => {
  const input = z.object({ id: z.int() });
  const router = t.router({
    pets: t.router({
      find: find(input),
      named: find(input, { path: '/named/{id}', operationId: 'findByName', summary: 'By name' }),
    }),
  });
  const gateway = await testGateway(router, {
    document: { title: 'Pets', version: '1.0.0', operationId: (path) => path.replaceAll('.', '-') },
  });
  const { paths } = await gateway.document();
  expect(paths).toMatchObject({
    '/pets/{id}': { get: { operationId: 'pets-find', summary: 'Find' } },
    '/named/{id}': { get: { operationId: 'findByName', summary: 'By name' } },
  });
  expect(JSON.stringify(paths)).not.toContain('"tags"');
});

it('the document has the description and the members that .meta({ param }) of a parameter has', async () => {
  const param = { description: 'Only pets of this name.', required: true, example: 'Rex' };
  const procedure = find(z.object({ id: z.int(), name: z.string().optional().meta({ param }) }));
  const { parameters } = await documentedOperation(procedure);
  expect(parameters?.find(({ name }) => name === 'name')).toMatchObject(param);
});

it.each<[options: Options, url: string]>([
  [{}, '/v1'],
  [{ restBasePath: '/' }, '/'],
  [{ restBasePath: '/', publicUrl: '/' }, '/'],
  [{ restBasePath: '/', publicUrl: '/api/' }, '/api'],
  [{ publicUrl: 'https://pets.example/store//' }, 'https://pets.example/store/v1'],
  [{ restBasePath: '/', publicUrl: 'https://pets.example' }, 'https://pets.example'],
])('with %j, the server of the document is %s', async (options, url) => {
  const document = await (await testGateway(t.router({}), options)).document();
  expect(document['servers']).toEqual([{ url }]);
});

it.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/vnd.pets+json', true],
  ['application/json ;a=b', true],
  ['application/jsonl', false],
  ['application/json-seq', false],
  ['application/x-json', false],
  ['text/json', false],
  ['application/vnd.json.pets', false],
])('produces: { "%s": true } is accepted if the type is JSON: %s', async (type, isJson) => {
  const router = t.router({ find: find(z.object({ id: z.int() }), { produces: { [type]: true } }) });
  const problem = await testGateway(router).then(() => '', String);
  expect(problem.includes(`its produces has ${type}: true, but the type is not JSON;`)).toBe(!isJson);
});

it.each<[path: string, procedure: 'top' | 'nested', expected: object]>([
  ['health', 'top', { summary: 'Health' }],
  ['findAll', 'nested', { summary: 'Find all', tags: ['books'] }],
  ['find_by-ISBN', 'nested', { summary: 'Find by ISBN', tags: ['books'] }],
  ['getPDFFile', 'nested', { summary: 'Get PDF file', tags: ['books'] }],
  ['v2Import', 'nested', { summary: 'V2 import', tags: ['books'] }],
])(
  'openapi: true documents the procedure %s, which is %s, with its name in words',
  async (name, where, expected) => {
    const one = t.router({ [name]: t.procedure.query(() => 1) });
    const gateway = await testGateway(where === 'top' ? one : t.router({ books: one }), { openapi: true });
    const [item] = Object.values(
      (await gateway.document())['paths'] as Readonly<Record<string, { get: object }>>,
    );
    expect(item?.get).toMatchObject(expected);
    expect('tags' in (item?.get ?? {})).toBe('tags' in expected);
  },
);

it('a header that metadata and the gateway write in two cases is documented once', async () => {
  const procedure = find(z.object({ id: z.int(), tenant: z.string() }), {
    in: { tenant: { in: 'header', name: 'x-tenant' } },
    requestHeaders: z.object({ 'X-Tenant': z.string() }),
    headers: { 'x-request-id': { description: 'The id.', value: () => 'a' } },
  });
  const { parameters, responses } = await documentedOperation(procedure);
  expect(parameters?.map(({ name }) => name)).toEqual(['id', 'x-tenant']);
  expect(Object.keys(responses['200']?.headers ?? {})).toEqual(['x-request-id']);
});

it('text beside a parameter of a path, and what a URL must encode, is in the path of the document', async () => {
  const router = t.router({
    json: find(z.object({ id: z.string() }), { path: '/books/{id}.json' }),
    archive: find(z.object({ id: z.string() }), { path: '/items/{id}:archive' }),
    encoded: find(z.object({ 'a b': z.string() }), { path: '/ä b/c%2Fd/{a b}' }),
  });
  expect(Object.keys((await (await testGateway(router)).document())['paths'] as object)).toEqual([
    '/books/{id}.json',
    '/items/{id}:archive',
    '/%C3%A4%20b/c%2Fd/{a b}',
  ]);
});

it('with the preset, a parameter is required only if the server requires it', async () => {
  const input = z.object({
    id: z.preprocess((value) => value, z.string().optional()),
    withDefault: z.preprocess((value) => value ?? 5, z.number()),
    without: z.preprocess((value) => value, z.number()),
    any: z.any(),
    caught: z.number().catch(5),
  });
  const { parameters = [] } = await documentedOperation(
    find(input),
    trpcToOpenApi({ title: 'Pets', version: '1.0.0' }),
  );
  const required = parameters.filter((each) => each.required).map(({ name }) => name);
  expect(required).toEqual(['id', 'without', 'any']);
});

it('schemas with one id are compared at start without creating the document', async () => {
  const echoOf = (path: `/${string}`, pet: z.ZodType) =>
    t.procedure
      .meta({ openapi: { method: 'POST', path } })
      .input(z.object({ pet: pet.meta({ id: 'Pet' }) }))
      .mutation(() => 1);
  let transforms = 0;
  const start = async (other: z.ZodType) =>
    testGateway(t.router({ a: echoOf('/a', z.object({ a: z.int() })), b: echoOf('/b', other) }), {
      document: { title: 'Pets', version: '1', transform: (same) => ((transforms += 1), same) },
    });
  const gateway = await start(z.object({ a: z.int() }));
  expect(transforms).toBe(0);
  await gateway.document();
  expect(transforms).toBe(1);
  await expect(start(z.object({ b: z.int() }))).rejects.toThrow(
    'Two different schemas in the procedures "a" and "b" have the id "Pet".',
  );
  expect(transforms).toBe(1);
});

let count = 0;
/** Defaults that are functions, of which each call returns another value, or does so at another time. */
const computed: Readonly<Record<string, z.ZodType>> = {
  id: z.string().default(() => crypto.randomUUID()),
  date: z.date().default(() => new Date()),
  day: z.string().default(() => new Date().toISOString().slice(0, 10)),
  time: z.number().default(() => Date.now()),
  text: z.string().prefault(() => Date()),
  seconds: z.number().default(() => Math.floor(Date.now() / 1000)),
  nested: z.object({ at: z.string() }).default(() => ({ at: new Date().toLocaleString('en-US') })),
  hour: z.string().default('09:00'),
  since: z.date().default(new Date(0)),
  counted: z.number().default(() => (count += 1)),
  caught: z.string().catch(() => crypto.randomUUID()),
  failing: z.string().catch(({ issues }) => issues[0]?.message ?? ''),
};
const constant: Readonly<Record<string, z.ZodType>> = {
  five: z.number().default(5),
  list: z.array(z.string()).default(() => []),
  object: z.object({ a: z.string() }).default({ a: 'b' }),
  text: z.string().default('2 pets'),
  caught: z.string().catch('a'),
};

it('the document has a default that is a value, and none that is computed', async () => {
  const input = z.object({ ...computed, constant: z.object(constant) });
  const create = async () => {
    const add = t.procedure
      .meta({ openapi: { method: 'POST', path: '/add' } })
      .input(input)
      .mutation(() => 1);
    return JSON.stringify(await (await testGateway(t.router({ add }))).document());
  };
  const document = await create();
  expect(await create()).toBe(document);
  expect([...document.matchAll(/"default":("[^"]*"|[^,}]*\}?)/g)].map(([, value]) => value)).toEqual([
    '5',
    '[]',
    '{"a":"b"}',
    '"2 pets"',
    '"a"',
  ]);
});
