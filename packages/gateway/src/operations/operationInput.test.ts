import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z40 } from 'zod-4.0';
import type { RestMeta } from '../procedures/meta.ts';
import { echo, t, testGateway } from '../testing/testGateway.ts';

const create = (rest: RestMeta, input: z.ZodType) => testGateway(t.router({ a: echo(rest, input) }));
const get = (path: `/${string}` = '/x'): RestMeta => ({ method: 'GET', path });
const post = (more: RestMeta = {}): RestMeta => ({ method: 'POST', path: '/x', ...more });
const multipart = 'multipart/form-data';
const urlencoded = 'application/x-www-form-urlencoded';
const form = post({ contentTypes: [multipart] });
const stream = z.instanceof(ReadableStream<Uint8Array>);
const properties = z.object({
  a: z.string(),
  list: z.array(z.string()).optional(),
  o: z.object({ b: z.int() }).optional(),
});
const noNames =
  /its input has no property names for parameters; use z\.object\(…\) for each of its inputs, or one schema, a method with a body, such as POST, and a path without parameters\.$/;

const recursive: z.ZodType = z.lazy(() => z.union([z.int(), recursive]));

describe('createGateway with an input that REST cannot receive', () => {
  const rejected: Readonly<Record<string, readonly [RestMeta, z.ZodType, RegExp]>> = {
    'a path parameter that is not a property of the input': [
      get('/x/{p}'),
      z.object({}),
      /its path has the parameter \{p\}, but its input has no property "p" for it; add it to the input, or rename the parameter\.$/,
    ],
    'a property of the path in the query': [
      { ...get('/x/{a}'), in: { a: 'query' } },
      properties,
      /its path has the parameter \{a\}, but its input has no property "a" for it/,
    ],
    'a path that has a parameter twice': [
      get('/x/{p}/y/{p}'),
      z.object({ p: z.string() }),
      /its path has the parameter \{p\} twice; give one of them another name\.$/,
    ],
    'a GET with an input that is not an object': [get(), z.string(), noNames],
    'an array beside a path': [post({ path: '/x/{a}' }), z.array(z.string()), noNames],
    'a FormData with a path parameter': [{ ...form, path: '/x/{a}' }, z.instanceof(FormData), noNames],
    'another name in the body': [
      post({ in: { a: { in: 'body', name: 'b' } } }),
      properties,
      /"a" has another name in the body/,
    ],
    'a default that is a promise': [
      post(),
      z.object({
        q: z.unknown().default(async () => Promise.reject(new Error('no default'))),
        list: z.array(z.unknown().catch(async () => 1)),
      }),
      /its input, the default of "q" is a promise, .*\n.*the default of "list" is a promise/,
    ],
    'two schemas with one id': [
      post(),
      // zod 4.0 has a registry of its own. The shared one rejects a second id, if zod 4.1 was loaded first.
      z.object({ a: z.int().meta({ id: 'Two' }), b: z40.string().meta({ id: 'Two' }) as never }),
      /^Procedure "a" cannot be served over REST: two schemas in it have the id "Two"; give one of them another id in its \.meta\(\{ id: … \}\)\.$/,
    ],
    'an object in a form': [
      post({ contentTypes: [urlencoded] }),
      z.object({ q: z.object({ a: z.string() }) }),
      /"q" is an object or an array of objects, which text cannot represent; send it in a JSON body, by POST/,
    ],
    'an array of objects in an object in a query': [
      get(),
      z.object({ q: z.object({ a: z.array(z.object({ b: z.int() })) }) }),
      /"q" has "a", which is an object or an array of objects, which text cannot represent/,
    ],
    'a bigint deep in a JSON body': [
      post(),
      z.object({ a: z.object({ b: z.bigint() }) }),
      /in its body, "a\.b" is a bigint/,
    ],
    'an unsupported content type': [
      post({ contentTypes: ['text/csv'] }),
      properties,
      /content type text\/csv is not supported for its body; use application\/json, application\/x-www-form-urlencoded, multipart\/form-data/,
    ],
    'a merge patch by POST': [
      post({ contentTypes: ['application/merge-patch+json'] }),
      properties,
      /merge-patch\+json is not supported for its body/,
    ],
    'an array as a form': [
      form,
      z.array(z.string()),
      /its content type multipart\/form-data is not supported for its body; use application\/json/,
    ],
    'a FormData with JSON': [
      post({ contentTypes: [multipart, 'application/json'] }),
      z.instanceof(FormData),
      /its content type multipart\/form-data is not supported for its body; use application\/json/,
    ],
    'a pagination cursor that is not in the query': [
      { ...get(), pagination: { cursor: 'after' } },
      z.object({}),
      /names the cursor "after"/,
    ],
    'a file in a JSON body': [
      post(),
      z.object({ f: z.file() }),
      /in its body, "f" is a file, which JSON does not support; REST needs openapi: \{ contentTypes/,
    ],
    'z.instanceof(File) in a JSON body': [
      post(),
      z.object({ f: z.instanceof(File) }),
      /in its body, "f" is a File, which JSON does not support; REST needs openapi: \{ contentTypes/,
    ],
    'the field of a file of zod-form-data in a JSON body': [
      post(),
      z.object({ f: z.preprocess((value) => value, z.instanceof(File)) }),
      /in its body, "f" is a File, which JSON does not support; REST needs openapi: \{ contentTypes/,
    ],
    'z.instanceof(File) in a form': [
      form,
      z.object({ f: z.instanceof(File) }),
      /"f" is a File; use z\.file\(\)\.$/,
    ],
    'a file in a body that may be a form without files': [
      post({ contentTypes: [multipart, urlencoded] }),
      z.object({ f: z.file() }),
      /"f" is a file, which only multipart\/form-data supports/,
    ],
    'a text beside bytes in the body': [
      post(),
      z.object({ content: stream, title: z.string() }),
      /"content" is the whole body, so "title" cannot be in it; declare in: \{ title: "query" \}/,
    ],
    'bytes in a query': [
      post({ in: { content: 'query' } }),
      z.object({ content: stream }),
      /"content" is bytes, which only a whole body can be/,
    ],
    'upload without a body of bytes': [
      post({ upload: { maxSize: 5 } }),
      properties,
      /its metadata has upload, but its input has no stream/,
    ],
    'upload.spool without the option spool': [
      { ...form, upload: { spool: true } },
      z.object({ photo: z.file() }),
      /its upload\.spool requires the option spool of createGateway, such as temporaryFiles\(\) of trpc-gateway\/node/,
    ],
  };
  it.each(Object.entries(rejected))('createGateway rejects %s', async (_what, [rest, input, sentence]) => {
    await expect(create(rest, input)).rejects.toThrow(sentence);
  });

  // Most of these are types that no request can match.
  it.each(['application/json', 'Image/PNG', 'image/png; q=1', 'image/*', 'png'])(
    'createGateway rejects bytes as %s',
    async (type) => {
      await expect(create(post({ contentTypes: [type] }), stream)).rejects.toThrow(
        `its content type ${type} is not supported for its body; use application/octet-stream or another type of bytes, in lower case`,
      );
    },
  );

  it('createGateway rejects a FormData beside an object', async () => {
    const add = t.procedure
      .meta({ openapi: form })
      .input(z.custom<Record<string, unknown>>((value) => value instanceof FormData))
      .input(z.object({ name: z.string() }))
      .mutation(() => 1);
    await expect(testGateway(t.router({ add }))).rejects.toThrow(noNames);
  });

  const inHeader = (name: string) => ({ in: 'header', name }) as const;

  it.each<[places: NonNullable<RestMeta['in']>, sentence: RegExp]>([
    [{ a: 'body' }, /"a" is in the body, but GET has no body .*; use POST/],
    [{ a: 'path' }, /declares "a" in the path, but its path has no \{a\}/],
    [{ a: inHeader('Authorization') }, /header Authorization, .* part of an input; read it in createContext/],
    [{ a: inHeader('Content-Length') }, /header Content-Length, which is not part/],
    [{ a: inHeader('X Tenant') }, /in the header "X Tenant", which is not a valid name \(RFC 9110 §5\.1\)/],
    [{ a: { in: 'cookie', name: 'a;b' } }, /in the cookie "a;b", which is not a valid name/],
    [{ list: 'cookie' }, /"list" is an array, which is not supported in a cookie/],
    [{ o: 'header' }, /"o" is an object or an array of objects, which text cannot represent/],
    [{ a: inHeader('X'), list: inHeader('x') }, /"a" and "list" are both in the header as "x"/],
  ])('createGateway rejects a GET whose properties are in %j', async (places, sentence) => {
    await expect(create({ ...get(), in: places }, properties)).rejects.toThrow(sentence);
  });

  it.each<[reason: string, schema: z.ZodType]>([
    ['is a tuple, which text cannot represent', z.tuple([z.string(), z.int()])],
    [
      'is a union with an array, which text cannot tell from one value',
      z.union([z.string(), z.array(z.string())]),
    ],
    ['is an object without properties, which cannot be sent in a query', z.object({})],
    [
      'is a union in which "5" could be an integer or a string; use a schema that allows only one of them',
      z.union([z.int(), z.string()]),
    ],
    ['has the values "1" and 1, which are the same text in a URL', z.literal([1, '1'])],
    [
      'is a z.preprocess(…), to which text cannot be converted unambiguously; use a codec',
      z.preprocess((v) => v, z.string()),
    ],
    // zod writes a nullable text as one schema of two types.
    ['is a z.preprocess(…), to which text', z.preprocess((v) => v, z.string()).nullish()],
    ['is recursive, which text cannot represent', recursive],
  ])('createGateway rejects a parameter of a query that %s', async (reason, q) => {
    await expect(create(get(), z.object({ q }))).rejects.toThrow(`"q" ${reason}`);
  });

  const nullable = '"q" is required and may be null, which text cannot represent; ';
  it.each<[where: string, rest: RestMeta, q: z.ZodType, sentence?: string]>([
    ['query', get(), z.string().nullable()],
    ['path', get('/x/{q}'), z.int().nullable()],
    ['header', post({ in: { q: 'header' } }), z.enum(['a', 'b']).nullable()],
    ['cookie', { ...get(), in: { q: 'cookie' } }, z.literal(['a', null])],
    ['query of a DELETE', { method: 'DELETE', path: '/x' }, z.null()],
    ['form', form, z.file().nullable()],
    ['record', get(), z.record(z.string(), z.union([z.int(), z.null()]))],
    ['list', get(), z.array(z.int().nullish()).optional(), '"q" is an array whose items may be null, '],
    ['object', get(), z.object({ a: z.null() }).optional(), '"q" has "a", which is required and may be null'],
  ])('createGateway rejects null in a %s', async (_where, rest, q, sentence = nullable) => {
    await expect(create(rest, z.object({ q }))).rejects.toThrow(sentence);
  });

  it('null is rejected in a member of a union, and accepted where it may be absent or a body is JSON', async () => {
    const other = z.object({ a: z.string(), q: z.int().optional() });
    const union = (q: z.ZodType) => z.union([z.object({ a: z.string() }), z.object({ q }), other]);
    await expect(create(get(), union(z.int().nullable()))).rejects.toThrow(
      `Procedure "a" cannot be served over REST: ${nullable}make it optional (.nullish()), but not in a path, or send it in a JSON body, by POST.`,
    );
    const either = post({ contentTypes: ['application/json', multipart] });
    await create(get(), union(z.int().nullish()));
    await create(get(), z.object({ q: z.string().nullable().default(null) }));
    await create(either, z.object({ q: z.string().nullable() }));
    await create(get(), z.object({ q: z.string().nullable().and(z.string()) }));
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
    await expect(create(get('/x/{p}'), input)).rejects.toThrow(reason);
  });
});
