import { describe, expect, it, vi } from 'vitest';
import * as routers from './standardSchema.ts';
import { post, startShape } from '../startShape.ts';

/** Procedures with validators of Valibot and ArkType (Standard Schema). Titles name the GitHub threads that ask for them. */

/** The same input in both libraries, with their messages for invalid values. */
const libraries = [
  {
    name: 'Valibot (zodios #645)',
    router: routers.valibotPets,
    messages: {
      nested: 'nested.n: Invalid type: Expected number but received "x".',
      missing: /^name: Invalid key: Expected "name" but received undefined; kind: .*\.$/,
      minimum: 'weight: Invalid value: Expected >=1 but received 0.',
      both: 'id: must be an integer, such as 42 or -7; tenant (header): Invalid length: Expected >=2 but received 1.',
    },
  },
  {
    name: 'ArkType (nestjs/swagger #3915)',
    router: routers.arktypePets,
    messages: {
      nested: 'nested.n: must be a number (was a string).',
      missing: /name: must be .*\(was missing\)/,
      minimum: 'weight: must be at least 1 (was 0).',
      both: /^id: must be an integer, such as 42 or -7; tenant \(header\): must be at least length 2 \(was 1\)\.$/,
    },
  },
] as const;

const json = (schema: object) => ({ required: true, content: { 'application/json': { schema } } });

describe.each(libraries)('schemas of $name', ({ name: library, router, messages }) => {
  const start = () => startShape(router);

  it(`parameters of the path, the query and a header are converted by schemas of ${library} as by those of zod`, async () => {
    const { expectRest } = await start();
    const target =
      '/pets/7?tags=a&tags=b&sort=age&isOld=true&weight=2.5&filter[city]=Bonn&filter[range][min]=3';
    const filter = { city: 'Bonn', range: { min: 3 } };
    const pet = { id: 7, tags: ['a', 'b'], sort: 'age', isOld: true, weight: 2.5, filter, tenant: 'acme' };
    await expectRest([
      [target, { headers: { tenant: 'acme' } }, 200, pet],
      ['/pets/7?isOld=yes', {}, 400, 'isOld: must be true or false.'],
      ['/pets/7?sort=size', {}, 400, 'sort: must be one of "age", "name".'],
      ['/pets/7?weight=0', {}, 400, messages.minimum],
      ['/pets/7.5', { headers: { tenant: 'x' } }, 400, messages.both],
    ]);
  });

  it(`a JSON body is read by schemas of ${library}, and a 400 names the invalid fields`, async () => {
    const { expectRest } = await start();
    await expectRest([
      ['/pets', post({ name: 'Tom', kind: null }), 200, { id: 1, name: 'Tom' }],
      ['/pets', post({ name: 'Tom', kind: 'cat', nested: { n: 'x' } }), 400, messages.nested],
      ['/pets', post({}), 400, messages.missing],
      ['/pets', post([]), 400, /must be a JSON object/],
    ]);
  });

  it(`events of a subscription are validated by schemas of ${library}, and an invalid one is recorded`, async () => {
    const { records, rest } = await start();
    const text = await (await rest('/events')).text();
    expect(text).toContain('data: {"n":1}');
    expect(text).toContain('event: error');
    expect(text).not.toContain('two');
    const error = { code: 'INTERNAL_SERVER_ERROR' };
    await vi.waitFor(() => expect(records).toMatchObject([{ status: 200, isStream: true, error }]));
  });

  it(`the document describes schemas of ${library}`, async () => {
    const { document } = await start();
    const find = document.paths['/pets/{id}']?.['get'];
    expect(
      find?.parameters?.map(({ in: where, name, required, schema }) => [where, name, required, schema]),
    ).toEqual([
      ['path', 'id', true, { type: 'integer' }],
      [
        'query',
        'filter',
        undefined,
        {
          type: 'object',
          properties: {
            city: { type: 'string' },
            range: { type: 'object', properties: { min: { type: 'number' } }, required: ['min'] },
          },
          required: ['city'],
        },
      ],
      ['query', 'isOld', undefined, { type: 'boolean' }],
      ['query', 'sort', undefined, expect.objectContaining({ enum: ['age', 'name'] })],
      ['query', 'tags', undefined, { type: 'array', items: { type: 'string' } }],
      ['query', 'weight', undefined, { type: 'number', minimum: 1 }],
      ['header', 'tenant', undefined, { type: 'string', minLength: 2 }],
    ]);
    const create = document.paths['/pets']?.['post'];
    const body = {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, description: 'What it is called.' },
        kind: { anyOf: expect.arrayContaining([{ type: 'null' }]) as unknown },
        nested: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
      required: expect.arrayContaining(['name', 'kind']) as unknown,
      additionalProperties: false,
    };
    expect(create?.requestBody).toEqual(json(body));
    expect(create?.responses['200']?.content?.['application/json']?.schema).toMatchObject({
      properties: { name: { type: 'string' } },
    });
    expect(document.paths['/events']?.['get']?.responses['200']?.content?.['text/event-stream']).toEqual({
      schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    });
  });
});

describe('a router with several libraries', () => {
  it('a procedure can chain inputs of several libraries (ts-rest #743)', async () => {
    const { document, expectRest, trpc } = await startShape(routers.chained);
    const renamed = { owner: 'ann', id: 7, name: 'Tom' };
    const message =
      'dryRun (query): must be true or false; owner: must have at least 2 characters; name: must be non-empty.';
    await expectRest([
      ['/ann/pets/7?dryRun=true', post({ name: 'Tom' }), 200, { ...renamed, dryRun: true }],
      // A field that cannot be converted, and fields that the schemas reject.
      ['/a/pets/7?dryRun=maybe', post({ name: '' }), 400, message],
    ]);
    expect(await trpc.rename.mutate(renamed)).toEqual(renamed);
    const operation = document.paths['/{owner}/pets/{id}']?.['post'];
    expect(operation?.parameters?.map(({ in: where, name, schema }) => [where, name, schema])).toEqual([
      ['path', 'owner', { type: 'string', minLength: 2 }],
      ['path', 'id', { type: 'integer' }],
      ['query', 'dryRun', { type: 'boolean' }],
    ]);
    const properties = { name: { type: 'string', minLength: 1 } };
    expect(operation?.requestBody).toEqual(json({ type: 'object', properties, required: ['name'] }));
  });

  it('schemas of ArkType can describe forms (zodios #645)', async () => {
    const { expectRest } = await startShape(routers.forms);
    const form = (body: string) => ({
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    await expectRest([
      ['/forms', form('age=5&tags=a&tags=b&terms=true'), 200, { age: 5, tags: ['a', 'b'], terms: true }],
      ['/forms', form('age=old&terms=true'), 400, 'age: must be an integer, such as 42 or -7.'],
    ]);
  });

  it('schemas of Valibot and ArkType can describe bodies that are unions, recursive types and arrays (ts-rest #743)', async () => {
    const { document, expectRest } = await startShape(routers.bodies);
    const tree = { name: 'a', children: [{ name: 'b', children: [] }] };
    const invalid = { name: 'a', children: [{}] };
    await expectRest([
      ['/trees', post(tree), 200, { value: 1, next: { value: 1 } }],
      ['/trees', post(invalid), 400, /^children\.0\.name: .*children\.0\.children: /],
      ['/unions', post({ kind: 'a', at: '1970-01-01T00:00:01Z' }), 200, 1000],
      ['/unions', post({ kind: 'b', n: 5 }), 200, 5],
      ['/lists', post([{ n: 2 }]), 200, 2],
    ]);
    const text = JSON.stringify(document);
    const references = text.match(/"#\/components\/schemas\/[^"]+"/g) ?? [];
    const { schemas } = document.components as unknown as { schemas: Record<string, unknown> };
    for (const reference of references) {
      expect(Object.keys(schemas)).toContain((JSON.parse(reference) as string).split('/').at(-1));
    }
    expect(text).not.toContain('#/$defs');
    expect(text).not.toContain('x-gateway');
    const oneOf = [
      { properties: { kind: { const: 'a' }, at: { type: 'string', format: 'date-time' } } },
      { properties: { kind: { const: 'b' }, n: { type: 'number' } } },
    ];
    expect(document.paths['/unions']?.['post']?.requestBody).toMatchObject(json({ oneOf }));
  });

  it('an input of Valibot can be optional as a whole, and an output of z.void() is a 204', async () => {
    const { document, expectRest, rest } = await startShape(routers.optional);
    await expectRest([
      ['/pets', {}, 200, 'none'],
      ['/pets?limit=5', {}, 200, { limit: 5 }],
    ]);
    expect((await rest('/pets/7', { method: 'DELETE' })).status).toBe(204);
    expect(Object.keys(document.paths['/pets/{id}']?.['delete']?.responses ?? {})).not.toContain('200');
  });
});

it('an output that its library cannot describe is reported at start in one line, and left out of the document (nestjs/swagger #3915)', async () => {
  const { document, expectRest } = await startShape(routers.partlyDescribed);
  await expectRest([
    ['/pets', {}, 200, { name: 'Tom', size: 5 }],
    ['/site', {}, 200, { site: 'http://pets.example/' }],
  ]);
  const { calls } = vi.spyOn(console, 'error').mock;
  expect(calls.splice(0).flat()).toEqual([
    `trpc-gateway: procedure "find": its output is a schema of valibot without a JSON Schema (The "transform" action cannot be converted to JSON Schema.); use types that JSON Schema can express, and for Valibot toStandardJsonSchema(schema) of @valibot/to-json-schema.`,
  ]);
  expect(document.paths['/pets']?.['get']?.responses['200']).toMatchObject({
    description: expect.stringContaining('No output schema') as unknown,
    content: { 'application/json': { schema: {} } },
  });
  // ArkType describes an instance of a class as any value.
  expect(document.paths['/site']?.['get']?.responses['200']?.content?.['application/json']).toEqual({
    schema: { type: 'object', properties: { site: {} }, required: ['site'] },
  });
});
