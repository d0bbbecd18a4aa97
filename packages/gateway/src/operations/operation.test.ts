import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3.25';
import { GatewayError } from '../checks/gatewayError.ts';
import type { Compatibility, RestMeta } from '../procedures/meta.ts';
import { echo, t, testGateway } from '../testing/testGateway.ts';

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

  const rejected: Readonly<Record<string, readonly [Parameters<typeof t.router>[0], RegExp]>> = {
    'two procedures at one method and path': [
      {
        a: echo(get('/x/{p}'), z.object({ p: z.string() })),
        b: echo(get('/x/{q}'), z.object({ q: z.string() })),
      },
      /^Procedure "b" cannot be served over REST: "a" is served at GET \/x\/\{p\}, which matches the same paths as \/x\/\{q\}; give one of them another path or method, or enabled: false\.$/,
    ],
    'the same literal in two percent-encodings': [
      { a: echo(get('/a%20b')), b: echo(get('/a b')) },
      /^Procedure "b" .*"a" is served at GET \/a%20b, which matches the same paths as \/a b;/,
    ],
    'paths of which neither is more specific': [
      {
        a: echo(get('/x/a-{p}/y'), z.object({ p: z.string() })),
        b: echo(post('/x/{p}.json/y'), z.object({ p: z.string() })),
      },
      /^Procedure "b" .*some paths match both its path \/x\/\{p\}\.json\/y and \/x\/a-\{p\}\/y of "a", and neither is more specific; give one of them another path\.$/,
    ],
    'an id of a schema that the document cannot have as a name': [
      { a: echo(get('/x'), z.object({}), z.object({ pet: z.string().meta({ id: 'Pet/New' }) })) },
      /a schema in it has the id "Pet\/New", but names in the document contain only letters, digits/,
    ],
    'a name of a header that HTTP cannot send': [
      { a: echo({ ...get('/x'), headers: { 'X Y': { description: 'a', value: () => 'a' } } }) },
      /its headers has "X Y", which is not a valid name of a header/,
    ],
    'a subscription with POST': [
      { a: ticks({ ...post('/x'), event: z.number() }) },
      /it is a subscription, so its method must be GET, not POST/,
    ],
    'an event that JSON cannot represent': [
      { a: ticks({ ...get('/x'), event: z.object({ n: z.bigint() }) }) },
      /in its event, "n" is a bigint/,
    ],
    'an event schema of a query': [
      { a: echo({ ...get('/x'), event: z.number() }) },
      /has an event, but it is a query, not a subscription; remove the event, or use \.subscription\(…\)\.$/,
    ],
    'produces without a media type': [
      { a: echo({ ...get('/x'), produces: {} }) },
      /openapi\.produces is \{\}; it must be a media type or an object of them/,
    ],
    'an invalid media type among several': [
      { a: echo({ ...get('/x'), produces: { csv: true } }) },
      /it produces "csv", which is not a media type/,
    ],
    'produces with an invalid media type': [
      { a: echo({ ...get('/x'), produces: 'png' }) },
      /produces "png", which is not a media type; write it as type\/subtype, such as image\/png\.$/,
    ],
    'a mutation with GET': [
      {
        a: t.procedure
          .meta({ openapi: get('/x') })
          .output(z.void())
          .mutation(() => {}),
      },
      /it is a mutation, but GET must not change anything; use POST, PUT, PATCH or DELETE\.$/,
    ],
  };
  it.each(Object.entries(rejected))('createGateway rejects %s', async (_what, [procedures, sentence]) => {
    const created = gatewayOf(procedures);
    await expect(created).rejects.toThrow(GatewayError);
    await expect(created).rejects.toThrow(sentence);
  });

  const bytes =
    /in its output, its value is bytes, .* or produces: 'application\/pdf' for a binary response\.$/;
  it.each<[what: string, output: z.ZodType, reason: RegExp]>([
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

it.each([
  ['/x', '/X', '"a" is served at GET /x, which matches the same paths as /X'],
  ['/x/Ab{p}', '/x/a{p}.json', 'some paths match both its path /x/a{p}.json and /x/Ab{p} of "a"'],
] as const)(
  'createGateway with compatibility rejects %s and %s, which match the same paths in another case',
  async (one, other, sentence) => {
    const at = (path: `/${string}`) => echo({ method: 'GET', path }, z.object({ p: z.string() }));
    const router = { a: at(one), b: at(other) };
    await gatewayOf(router);
    await expect(gatewayOf(router, 'trpc-to-openapi')).rejects.toThrow(sentence);
  },
);
