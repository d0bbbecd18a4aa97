import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RestMeta } from '../../procedures/meta.ts';
import { echoGateway, sendInput } from '../../testing/echoInput.ts';

// Inputs that keep unknown properties. trpc-to-openapi 3.3 passes the same inputs to procedures, except to forms.

interface Sent {
  readonly target: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = async (openapi: RestMeta, inputs: readonly z.ZodType[], { target, ...sent }: Sent) =>
  sendInput(await echoGateway(openapi, inputs), openapi, target, sent);

const w = z.object({ w: z.string() });
const looseW = z.looseObject({ w: z.string() });
const point = z.object({ x: z.int() });
const forms = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'];

function formData(entries: readonly (readonly [string, string | File])[]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

describe('unknown properties of a loose input', () => {
  const received: Readonly<
    Record<string, readonly [RestMeta, inputs: readonly z.ZodType[], sent: Sent, input: object]>
  > = {
    'a POST with path parameters only': [
      { method: 'POST', path: '/a/{w}' },
      [looseW],
      { target: '/a/1?other=1', body: { w: 'body', zz: { n: [1] } } },
      { w: '1', zz: { n: [1] } },
    ],
    'an input beside a header and a cookie': [
      { method: 'POST', path: '/a', in: { h: { in: 'header', name: 'x-h' }, c: 'cookie' } },
      [z.looseObject({ h: z.string(), c: z.string().optional() })],
      { target: '/a', body: { zz: 1, h: 'body', c: 'body' }, headers: { 'x-h': 'header' } },
      { zz: 1, h: 'header' },
    ],
    'a member of a union': [
      { method: 'POST', path: '/{kind}/{w}' },
      [z.union([looseW.extend({ kind: z.literal('a') }), w.extend({ kind: z.literal('b') })])],
      { target: '/a/1', body: { zz: 1 } },
      { kind: 'a', w: '1', zz: 1 },
    ],
    'a form': [
      { method: 'POST', path: '/a/{w}', contentTypes: forms },
      [looseW],
      { target: '/a/1', body: new URLSearchParams('w=2&zz=5&list=a&list=b&__proto__=c') },
      { w: '1', zz: '5', list: ['a', 'b'] },
    ],
    'a multipart form, with its files,': [
      { method: 'POST', path: '/a/{w}', contentTypes: forms },
      [looseW],
      {
        target: '/a/1',
        body: formData([
          ['w', '2'],
          ['zz', '5'],
          ['mail', new File(['x'], 'a.txt')],
          ['mail', new File(['y'], 'b.txt')],
        ]),
      },
      { w: '1', zz: '5', mail: ['a.txt application/octet-stream 1', 'b.txt application/octet-stream 1'] },
    ],
  };
  it.each(Object.entries(received))(
    'of %s reach the procedure',
    async (_what, [openapi, inputs, sent, input]) => {
      expect(await send(openapi, inputs, sent)).toEqual({ status: 200, body: input });
    },
  );

  const optional = z.looseObject({ w: z.string(), a: z.string() }).nullish();
  it.each<[what: string, inputs: readonly z.ZodType[], body: object, input: object]>([
    [
      '.catchall(z.date()), which are converted,',
      [w.catchall(z.date())],
      { zz: '2026-01-01T00:00:00.000Z' },
      { w: '1', zz: 'Date(2026-01-01T00:00:00.000Z)' },
    ],
    ['the first of two inputs', [looseW, z.object({ b: z.int() })], { b: 2, zz: 1 }, { w: '1', b: 2, zz: 1 }],
    ['a part of an intersection', [z.intersection(w, z.looseObject({}))], { zz: 1 }, { w: '1', zz: 1 }],
    [
      'a member of a union in an intersection',
      [w.and(z.union([z.looseObject({ a: z.string() }), z.object({ b: z.string() })]))],
      { a: 'a', zz: 1 },
      { w: '1', a: 'a', zz: 1 },
    ],
    ['an input that is optional as a whole', [optional], { a: 'a', zz: 1 }, { w: '1', a: 'a', zz: 1 }],
  ])('of %s in a body reach the procedure', async (_what, inputs, body, input) => {
    const route: RestMeta = { method: 'POST', path: '/a/{w}' };
    expect(await send(route, inputs, { target: '/a/1', body })).toEqual({ status: 200, body: input });
  });

  const named = z.looseObject({ n: z.int().optional() });
  it.each<[what: string, inputs: z.ZodType, query: string, input: object]>([
    ['a parameter without a name', z.looseObject({}), '&=1&zz=2&&', { '': '1', zz: '2' }],
    ['texts beside a number', named, 'n=5&zz=5&toString=t', { n: 5, zz: '5', toString: 't' }],
    ['lists', named, 'list=a&list=b&list=c&__proto__=c', { list: ['a', 'b', 'c'] }],
    ['an object without its own', z.looseObject({ f: point }), 'f[x]=1&g[x]=1', { f: { x: 1 }, 'g[x]': '1' }],
    ['the schema of .catchall()', z.object({}).catchall(z.int()), 'x=1', { x: 1 }],
    ['lists by the schema of .catchall()', z.object({}).catchall(z.array(z.int())), 'x=1', { x: [1] }],
  ])('of a query reach the procedure: %s', async (_what, input, query, read) => {
    const sent = { target: `/a?${query}` };
    expect(await send({ method: 'GET', path: '/a' }, [input], sent)).toEqual({ status: 200, body: read });
  });

  it.each<[what: string, json: string, status: number]>([
    ['a depth over the limit are rejected', `{"zz":${'['.repeat(500)}${']'.repeat(500)}}`, 400],
    ['a number that a double rounds are rejected', '{"zz":9007199254740993}', 400],
    ['the name of a path parameter are not read', '{"w":9007199254740993,"zz":1}', 200],
  ])('with %s', async (_what, body, status) => {
    const { fetch } = await echoGateway({ method: 'POST', path: '/a/{w}' }, [looseW]);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch('http://localhost/v1/a/1', { method: 'POST', body, headers });
    expect(response.status).toBe(status);
  });

  it('may be absent with the body if the input names no property in it', async () => {
    expect(await send({ method: 'POST', path: '/a/{w}' }, [looseW], { target: '/a/1' })).toEqual({
      status: 200,
      body: { w: '1' },
    });
  });

  it('of a GET that convert to no type of .catchall() are rejected', async () => {
    const sent = { target: '/a?x=b' };
    const { status, body } = await send(
      { method: 'GET', path: '/a' },
      [z.object({}).catchall(z.int())],
      sent,
    );
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('x: must be an integer')]);
  });

  it('of a strict input are rejected, and those of another input are ignored', async () => {
    const route: RestMeta = { method: 'POST', path: '/a/{w}' };
    const sent = { target: '/a/1', body: { b: 1, zz: 1 } };
    const strict = z.strictObject({ w: z.string(), b: z.int() });
    expect((await send(route, [strict], sent)).status).toBe(400);
    expect((await send(route, [w.extend({ b: z.int() })], sent)).body).toEqual({ w: '1', b: 1 });
  });
});

describe('the document of a loose input', () => {
  const bodyOf = async (openapi: RestMeta, inputs: readonly z.ZodType[]) => {
    const { paths } = (await (await echoGateway(openapi, inputs)).document()) as unknown as {
      readonly paths: Readonly<Record<string, { readonly post: { readonly requestBody?: unknown } }>>;
    };
    return paths[openapi.path ?? '']?.post.requestBody;
  };
  const bodyWith = (schema: object, required = false) => ({
    required,
    content: { 'application/json': { schema } },
  });

  it.each<[what: string, inputs: readonly z.ZodType[], body: object | undefined]>([
    [
      'path parameters only',
      [looseW],
      bodyWith({ type: 'object', properties: {}, additionalProperties: {} }),
    ],
    [
      'typed unknown properties of an input that is optional but for its path',
      [looseW.extend({ b: z.int() }).catchall(z.string()).optional()],
      bodyWith(
        {
          type: 'object',
          properties: { b: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 } },
          required: ['b'],
          additionalProperties: { type: 'string' },
        },
        true,
      ),
    ],
    [
      'a union',
      [z.union([looseW, w])],
      bodyWith({
        anyOf: [
          { type: 'object', properties: {}, additionalProperties: {} },
          { type: 'object', properties: {} },
        ],
      }),
    ],
    ['no loose input', [w], undefined],
  ])('has a body with additionalProperties for %s', async (_what, inputs, body) => {
    expect(await bodyOf({ method: 'POST', path: '/a/{w}' }, inputs)).toEqual(body);
  });
});

it.each([
  ['a loose object', z.looseObject({ a: z.int().optional() })],
  ['an object with a catchall', z.object({}).catchall(z.int())],
])('each name counts as an object if the body of %s has more than 1,000', async (_what, input) => {
  const bodyOf = (names: number) =>
    Object.fromEntries(Array.from({ length: names }, (_, index) => [`n${index}`, index]));
  const post = (names: number) =>
    send({ method: 'POST', path: '/a' }, [input], { target: '/a', body: bodyOf(names) });
  expect((await post(65_536)).status).toBe(200);
  const rejected = await post(65_537);
  expect(rejected.status).toBe(400);
  expect(JSON.stringify(rejected.body)).toContain('The input has more than 65536 arrays and objects');
});
