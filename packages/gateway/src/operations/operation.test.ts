import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3.25';
import type { GatewayError } from '../checks/gatewayError.ts';
import type { Compatibility, RestMeta } from '../procedures/meta.ts';
import { t, testGateway } from '../testing/testGateway.ts';

function echo(rest: RestMeta, input: z.ZodType = z.object({}), output: z.ZodType = z.unknown()) {
  const base = t.procedure.meta({ openapi: rest }).input(input).output(output);
  return rest.method === 'GET'
    ? base.query(({ input: parsed }) => parsed)
    : base.mutation(({ input: parsed }) => parsed);
}

const recursive: z.ZodType = z.lazy(() => z.union([z.int(), recursive]));

/** As `zfd.file()` of zod-form-data. */
const fileField = z.preprocess((value) => value, z.instanceof(File));

const ticks = (rest: RestMeta) =>
  t.procedure.meta({ openapi: rest }).subscription(async function* () {
    yield 1;
  });

const gatewayOf = (procedures: Parameters<typeof t.router>[0], compatibility?: Compatibility) =>
  testGateway(t.router(procedures), {
    ...(compatibility && { compatibility }),
    routes: { '/v1/taken': () => ({ status: 200, headers: [] }) },
  });

describe('createGateway with REST metadata that cannot be served', () => {
  const get = (path: `/${string}`): RestMeta => ({ method: 'GET', path });
  const post = (path: `/${string}`): RestMeta => ({ method: 'POST', path });

  it.each<[what: string, procedures: Parameters<typeof t.router>[0], sentence: RegExp]>([
    [
      'two procedures at one method and path',
      {
        a: echo(get('/x/{p}'), z.object({ p: z.string() })),
        b: echo(get('/x/{q}'), z.object({ q: z.string() })),
      },
      /^Procedure "b" cannot be served over REST: "a" is served at GET \/x\/\{p\}, which matches the same paths as \/x\/\{q\}; give one of them another path or method, or enabled: false\.$/,
    ],
    [
      'a path parameter that is not a property of the input',
      { a: echo(get('/x/{p}')) },
      /its path has the parameter \{p\}, but its input has no property "p" for it; add it to the input, or rename the parameter\.$/,
    ],
    [
      'a path that has a parameter twice',
      { a: echo(get('/x/{p}/y/{p}'), z.object({ p: z.string() })) },
      /its path has the parameter \{p\} twice; give one of them another name\.$/,
    ],
    [
      'the same literal in two percent-encodings',
      { a: echo(get('/a%20b')), b: echo(get('/a b')) },
      /^Procedure "b" .*"a" is served at GET \/a%20b, which matches the same paths as \/a b;/,
    ],
    [
      'paths of which neither is more specific',
      {
        a: echo(get('/x/a-{p}/y'), z.object({ p: z.string() })),
        b: echo(post('/x/{p}.json/y'), z.object({ p: z.string() })),
      },
      /^Procedure "b" .*some paths match both its path \/x\/\{p\}\.json\/y and \/x\/a-\{p\}\/y of "a", and neither is more specific; give one of them another path\.$/,
    ],
    [
      'a default that is a promise',
      {
        a: echo(
          post('/x'),
          z.object({
            q: z.unknown().default(async () => Promise.reject(new Error('no default'))),
            list: z.array(z.unknown().catch(async () => 1)),
          }),
        ),
      },
      /its input, the default of "q" is a promise, .*\n.*the default of "list" is a promise/,
    ],
    [
      'an id of a schema that the document cannot have as a name',
      { a: echo(get('/x'), z.object({}), z.object({ pet: z.string().meta({ id: 'Pet/New' }) })) },
      /a schema in it has the id "Pet\/New", but names in the document contain only letters, digits/,
    ],
    [
      'two schemas with one id in an input',
      {
        a: echo(post('/x'), z.object({ a: z.int().meta({ id: 'Two' }), b: z.string().meta({ id: 'Two' }) })),
      },
      /^Procedure "a" cannot be served over REST: two schemas in it have the id "Two"; give one of them another id in its \.meta\(\{ id: … \}\)\.$/,
    ],
    [
      'a name of a header that HTTP cannot send',
      { a: echo({ ...get('/x'), headers: { 'X Y': { description: 'a', value: () => 'a' } } }) },
      /its headers has "X Y", which is not a valid name of a header/,
    ],
    [
      'an object in a form',
      {
        a: echo(
          { ...post('/x'), contentTypes: ['application/x-www-form-urlencoded'] },
          z.object({ q: z.object({ a: z.string() }) }),
        ),
      },
      /"q" is an object or an array of objects, which text cannot represent; send it in a JSON body, by POST/,
    ],
    [
      'a GET with an input that is not an object',
      { a: echo(get('/x'), z.string()) },
      /its input has no property names for parameters; use z\.object\(…\) for each of its inputs, or one schema, a method with a body, such as POST, and a path without parameters\.$/,
    ],
    [
      'a bigint deep in a JSON body',
      { a: echo(post('/x'), z.object({ a: z.object({ b: z.bigint() }) })) },
      /in its body, "a\.b" is a bigint/,
    ],
    [
      'an unsupported content type',
      { a: echo({ ...post('/x'), contentTypes: ['text/csv'] }, z.object({ a: z.string() })) },
      /content type text\/csv is not supported for its body; use application\/json, application\/x-www-form-urlencoded, multipart\/form-data/,
    ],
    [
      'an empty list of content types',
      { a: echo({ ...post('/x'), contentTypes: [] }, z.object({ a: z.string() })) },
      /^Procedure "a": openapi\.contentTypes is \[\]; it must be a list of media types, such as contentTypes: \['application\/json'\]\.$/,
    ],
    [
      'a pagination cursor that is not in the query',
      { a: echo({ ...get('/x'), pagination: { cursor: 'after' } }) },
      /names the cursor "after"/,
    ],
    [
      'a subscription without an event schema',
      { a: ticks(get('/x')) },
      /it is a subscription without a schema of its events; add event: z\.object\(…\) to its metadata/,
    ],
    [
      'a subscription with POST',
      { a: ticks({ ...post('/x'), event: z.number() }) },
      /it is a subscription, so its method must be GET, not POST/,
    ],
    [
      'an event that JSON cannot represent',
      { a: ticks({ ...get('/x'), event: z.object({ n: z.bigint() }) }) },
      /in its event, "n" is a bigint/,
    ],
    [
      'an event schema of a query',
      { a: echo({ ...get('/x'), event: z.number() }) },
      /has an event, but it is a query, not a subscription; remove the event, or use \.subscription\(…\)\.$/,
    ],
    [
      'produces with an invalid media type',
      { a: echo({ ...get('/x'), produces: 'png' }) },
      /produces "png", which is not a media type; write it as type\/subtype, such as image\/png\.$/,
    ],
    [
      'a file in a JSON body',
      { a: echo(post('/x'), z.object({ f: z.file() })) },
      /in its body, "f" is a file, which JSON does not support; REST needs openapi: \{ contentTypes/,
    ],
    ...[z.instanceof(File), fileField].map((schema): [string, Parameters<typeof t.router>[0], RegExp] => [
      'z.instanceof(File) in a JSON body',
      { a: echo(post('/x'), z.object({ f: schema })) },
      /in its body, "f" is a File, which JSON does not support; REST needs openapi: \{ contentTypes/,
    ]),
    [
      'z.instanceof(File) in a form',
      {
        a: echo(
          { ...post('/x'), contentTypes: ['multipart/form-data'] },
          z.object({ f: z.instanceof(File) }),
        ),
      },
      /"f" is a File; use z\.file\(\)\.$/,
    ],
    [
      'a file in a body that may be a form without files',
      {
        a: echo(
          { ...post('/x'), contentTypes: ['multipart/form-data', 'application/x-www-form-urlencoded'] },
          z.object({ f: z.file() }),
        ),
      },
      /"f" is a file, which only multipart\/form-data supports/,
    ],
    [
      'a mutation with GET',
      {
        a: t.procedure
          .meta({ openapi: get('/x') })
          .output(z.void())
          .mutation(() => {}),
      },
      /it is a mutation, but GET must not change anything; use POST, PUT, PATCH or DELETE\.$/,
    ],
  ])('createGateway rejects %s', async (_what, procedures, sentence) => {
    await expect(gatewayOf(procedures)).rejects.toThrow(sentence);
  });

  it.each<[reason: string, schema: z.ZodType]>([
    ['is a tuple, which text cannot represent', z.tuple([z.string(), z.int()])],
    [
      'is a union with an array, which text cannot tell from one value',
      z.union([z.string(), z.array(z.string())]),
    ],
    ['is an object without properties, which cannot be sent in a query', z.object({})],
    ['is an array of arrays', z.array(z.array(z.string()))],
    ['is a union in which "5" could be a string or a number', z.union([z.string(), z.number()])],
    ['has the values "1" and 1, which are the same text in a URL', z.literal([1, '1'])],
    ['is of the type "unknown"', z.unknown()],
    [
      'is a z.preprocess(…), to which text cannot be converted unambiguously; use a codec',
      z.preprocess((v) => v, z.string()),
    ],
    // zod writes a nullable text as one schema of two types.
    ['is a z.preprocess(…), to which text', z.preprocess((v) => v, z.string()).nullish()],
    ['is recursive, which text cannot represent', recursive],
  ])('createGateway rejects a parameter of a query that %s', async (reason, q) => {
    await expect(gatewayOf({ a: echo(get('/x'), z.object({ q })) })).rejects.toThrow(`"q" ${reason}`);
  });

  const form = { ...post('/x'), contentTypes: ['multipart/form-data'] };
  const nullable = '"q" is required and may be null, which text cannot represent; ';
  it.each<[where: string, rest: RestMeta, q: z.ZodType, sentence?: string]>([
    ['query', get('/x'), z.string().nullable()],
    ['path', get('/x/{q}'), z.int().nullable()],
    ['header', { ...post('/x'), in: { q: 'header' } }, z.enum(['a', 'b']).nullable()],
    ['cookie', { ...get('/x'), in: { q: 'cookie' } }, z.literal(['a', null])],
    ['query of a DELETE', { method: 'DELETE', path: '/x' }, z.null()],
    ['form', form, z.file().nullable()],
    ['record', get('/x'), z.record(z.string(), z.union([z.int(), z.null()]))],
    ['list', get('/x'), z.array(z.int().nullish()).optional(), '"q" is an array whose items may be null, '],
    [
      'object',
      get('/x'),
      z.object({ a: z.null() }).optional(),
      '"q" has "a", which is required and may be null',
    ],
  ])('createGateway rejects null in a %s', async (_where, rest, q, sentence = nullable) => {
    await expect(gatewayOf({ a: echo(rest, z.object({ q })) })).rejects.toThrow(sentence);
  });

  it('null is rejected in a member of a union, and accepted where it may be absent or a body is JSON', async () => {
    const other = z.object({ a: z.string(), q: z.int().optional() });
    const union = (q: z.ZodType) => z.union([z.object({ a: z.string() }), z.object({ q }), other]);
    await expect(gatewayOf({ a: echo(get('/x'), union(z.int().nullable())) })).rejects.toThrow(
      `Procedure "a" cannot be served over REST: ${nullable}make it optional (.nullish()), but not in a path, or send it in a JSON body, by POST.`,
    );
    const either = { ...post('/c'), contentTypes: ['application/json', ...form.contentTypes] };
    await gatewayOf({
      a: echo(get('/a'), union(z.int().nullish())),
      b: echo(get('/b'), z.object({ q: z.string().nullable().default(null) })),
      c: echo(either, z.object({ q: z.string().nullable() })),
      d: echo(get('/d'), z.object({ q: z.string().nullable().and(z.string()) })),
    });
  });

  const optional = 'but path parameters are required; make it required';
  it.each<[reason: RegExp, input: z.ZodType]>([
    [/"p" is an array, which is not supported in a path/, z.object({ p: z.array(z.string()) })],
    [RegExp(`"p" is optional, .* ${optional}`), z.object({ p: z.string().optional() })],
    [
      RegExp(`"p" is optional, at least in a member of a union, ${optional}\\.`),
      z.union([z.object({ p: z.string() }), z.object({ q: z.string() })]),
    ],
  ])('createGateway rejects a parameter of a path: %s', async (reason, input) => {
    await expect(gatewayOf({ a: echo(get('/x/{p}'), input) })).rejects.toThrow(reason);
  });

  const bytes =
    /in its output, its value is bytes, .* or produces: 'application\/pdf' for a binary response\.$/;
  it.each<[what: string, output: z.ZodType, reason: RegExp]>([
    ['a map', z.object({ m: z.map(z.string(), z.string()) }), /in its output, "m" is a map/],
    [
      'a transform without a description',
      z.string().transform(Number),
      /in its output, its value is a transform/,
    ],
    ...[Uint8Array, Buffer, Blob, ReadableStream].map((Class): [string, z.ZodType, RegExp] => [
      Class.name,
      z.instanceof(Class as typeof Blob),
      bytes,
    ]),
  ])('createGateway rejects an output of %s', async (_what, output, reason) => {
    await expect(gatewayOf({ a: echo(get('/x'), undefined, output) })).rejects.toThrow(reason);
  });

  it.each<[path: `/${string}`, reason: RegExp]>([
    ['/x/', /its path is \/x\//],
    ['/a%zz', /its path is \/a%zz/],
    ['/{p}-{q}', /its path is \/\{p\}-\{q\}; .* at most one parameter between slashes/],
    [
      '/v1/x',
      /its path \/v1\/x begins with the base path, which is added to it; leave it out, or set restBasePath: '\/'\.$/,
    ],
  ])('createGateway rejects the path %s', async (path, reason) => {
    const input = z.object({ p: z.string(), q: z.string() });
    await expect(gatewayOf({ a: echo(get(path), input) })).rejects.toThrow(reason);
  });
});

it('createGateway names the parts of inputs and outputs that are not schemas of zod 4, with other problems', async () => {
  const openapi: RestMeta = { method: 'GET', path: '/x' };
  const none = undefined as unknown as z.ZodType;
  const old = z3.object({}) as unknown as z.ZodType;
  const gateway = gatewayOf({
    nested: echo(openapi, z.object({ a: z.array(z.object({ b: z.lazy(() => none) })) })),
    optional: echo(openapi, z.object({ a: z.optional(old) })),
    circular: echo(openapi, z.object({ a: z.tuple([z.string(), z.object({ b: none })]) })),
    output: echo(openapi, z.object({}), z.object({ a: z.union([z.string(), none]) })),
    other: echo({ method: 'GET', path: '/x/' }),
  });
  const error: unknown = await gateway.catch((cause: unknown) => cause);
  const start = 'cannot be served over REST:';
  const fix = 'not a schema of zod 4; check its import, or write a getter if two modules import each other';
  expect((error as GatewayError).message.split('\n')).toEqual([
    `Procedure "nested" ${start} in its input, "a.b" is undefined, ${fix}. The same is true of 1 more: "circular".`,
    `Procedure "optional" ${start} in its input, a part of "a" is a schema of zod 3 in one of zod 4; import both from 'zod/v4' of zod 3.25, or from 'zod' of zod 4.`,
    `Procedure "output" ${start} in its output, a member of the union "a" is undefined, ${fix}.`,
    expect.stringMatching(/^Procedure "other" cannot be served over REST: its path/),
  ]);
});

it('createGateway reports the problems of metadata, paths, inputs and outputs together, and each of a procedure', async () => {
  const gateway = gatewayOf({
    meta: t.procedure
      .meta({ openapi: { method: 'GET', path: '/a', tags: 'x' as never, summary: 1 as never } })
      .query(() => 1),
    path: echo(
      { method: 'GET', path: '/b/:id' },
      z.object({}),
      z.object({ a: z.map(z.string(), z.string()), b: z.set(z.string()) }),
    ),
    input: echo(
      { method: 'GET', path: '/c' },
      z.object({ one: z.unknown(), two: z.array(z.array(z.string())) }),
    ),
    body: echo(
      { method: 'POST', path: '/d', in: { none: 'query' } },
      z.object({ one: z.bigint(), two: z.symbol() }),
    ),
  });
  const error: unknown = await gateway.catch((cause: unknown) => cause);
  const lines = (error as GatewayError).message.split('\n').map((line) => line.replace(/; .*/, ''));
  const start = 'cannot be served over REST:';
  expect(lines).toEqual([
    'Procedure "meta": openapi.summary is 1',
    'Procedure "meta": openapi.tags is "x"',
    `Procedure "path" ${start} its path is /b/:id`,
    `Procedure "path" ${start} in its output, "a" is a map, which JSON does not support`,
    `Procedure "path" ${start} in its output, "b" is a set, which JSON does not support`,
    `Procedure "input" ${start} "one" is of the type "unknown", to which text cannot be converted unambiguously`,
    `Procedure "input" ${start} "two" is an array of arrays, which text cannot represent`,
    `Procedure "body" ${start} its metadata declares in: { none: … }, but its input has no property "none"`,
  ]);
});

it('the stack of an error of createGateway names the line of the application, and none of the gateway', async () => {
  let error: unknown;
  try {
    await gatewayOf({ a: echo({ method: 'GET', path: '/a/' }) });
  } catch (cause) {
    error = cause;
  }
  const [message, ...frames] = String((error as GatewayError).stack).split('\n');
  expect(message).toMatch(/^GatewayError: Procedure "a" cannot be served over REST: its path is \/a\/;/);
  const lines = frames.filter((frame) => frame.includes('/gateway/src/'));
  expect(lines).toEqual([expect.stringContaining('operation.test.ts')]);
});

it('createGateway with compatibility rejects a path that differs from another one in its case only', async () => {
  const router = { a: echo({ method: 'GET', path: '/x' }), b: echo({ method: 'GET', path: '/X' }) };
  await gatewayOf(router);
  await expect(gatewayOf(router, 'trpc-to-openapi')).rejects.toThrow(
    '"a" is served at GET /x, which matches the same paths as /X',
  );
});

it('createGateway with compatibility rejects paths that match the same ones in another case, of which neither is more specific', async () => {
  const router = {
    a: echo({ method: 'GET', path: '/x/Ab{p}' }, z.object({ p: z.string() })),
    b: echo({ method: 'GET', path: '/x/a{p}.json' }, z.object({ p: z.string() })),
  };
  await gatewayOf(router);
  await expect(gatewayOf(router, 'trpc-to-openapi')).rejects.toThrow(
    'some paths match both its path /x/a{p}.json and /x/Ab{p} of "a"',
  );
});
