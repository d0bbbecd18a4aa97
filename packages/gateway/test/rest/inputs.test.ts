import type { GatewayMeta, RestMeta } from 'trpc-gateway/procedures';
import { shown } from '@petstore/testing/shown';
import { initTRPC } from '@trpc/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Client, connect, type SendOptions } from '../client.ts';
import { openShape, type Shape } from '../startShape.ts';

/** Parameters of every type of a query, and inputs that are empty, optional as a whole, or contain dates. */

const t = initTRPC.meta<GatewayMeta>().create();

/** A procedure that returns its input, with `undefined`, bigints and dates as strings, because JSON has none of them. */
function echoProcedure(rest: RestMeta, input: z.ZodType) {
  const described = t.procedure
    .meta({ openapi: rest })
    .input(input)
    .output(z.object({ input: z.unknown() }));
  const resolve = ({ input: value }: { input: unknown }) => ({ input: shown(value) });
  return rest.method === 'GET' ? described.query(resolve) : described.mutation(resolve);
}

const Note = z.object({ text: z.string(), loud: z.boolean().default(false) }).meta({ id: 'Note' });
const readable = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

const Times = z
  .object({
    at: z.date().optional(),
    nullable: z.date().nullable().optional(),
    nested: z.object({ at: z.date(), text: z.string().optional() }).optional(),
    list: z.array(z.object({ at: z.date().nullish() })).optional(),
    pair: z.tuple([z.string(), z.date()]).optional(),
    byName: z.record(z.string(), z.date()).optional(),
    dateOrNumber: z.union([z.date(), z.int()]).optional(),
    dayOrDate: z.union([z.iso.date(), z.date()]).optional(),
    textOrDate: z.union([z.string(), z.date()]).optional(),
    event: z
      .discriminatedUnion('kind', [
        z.object({ kind: z.literal('timed'), at: z.date(), n: z.int().optional() }),
        z.object({ kind: z.literal('noted'), at: z.string() }),
      ])
      .optional(),
    either: z
      .union([z.object({ at: z.date(), n: z.int() }), z.object({ at: z.string(), s: z.string() })])
      .optional(),
    both: z.intersection(z.object({ from: z.date() }), z.object({ to: z.date() })).optional(),
    recent: z.date().min(new Date('2020-01-01T00:00:00Z')).optional(),
    // The schema itself converts this string to a date.
    own: z
      .codec(z.iso.datetime(), z.date(), {
        decode: (text) => new Date(text),
        encode: (date) => date.toISOString(),
      })
      .optional(),
    get inner() {
      return Times.optional();
    },
  })
  .meta({ id: 'Times' });

/** Every type of query parameter. */
const Search = z.object({
  text: z.string().optional(),
  minPages: z.int().optional(),
  price: z.number().optional(),
  inPrint: z.boolean().optional(),
  barcode: z.bigint().optional(),
  since: z.date().optional(),
  genre: z.enum(['novel', 'poetry', 'essay']).optional(),
  shelf: z.literal([1, 2, 'annex']).optional(),
  tag: z.array(z.string()).optional(),
  year: z.array(z.int()).default([1999]),
  sort: z.enum(['title', 'pages']).default('title'),
  volume: z.int().nullable().optional(),
  code: z
    .string()
    .transform((value) => value.toUpperCase())
    .optional(),
  ratio: z.codec(z.string(), z.number(), { decode: Number, encode: String }).optional(),
  limit: z.union([z.int(), z.literal('all')]).optional(),
  flag: z.stringbool().optional(),
  reference: z.string().brand('Reference').readonly().optional(),
});

const inputsRouter = t.router({
  search: echoProcedure({ method: 'GET', path: '/books' }, Search),
  plan: echoProcedure({ method: 'POST', path: '/plans' }, Times),
  since: echoProcedure(
    { method: 'GET', path: '/since' },
    z.object({ at: z.date(), own: z.date().meta({ format: 'date' }).optional() }),
  ),
  when: t.procedure
    .meta({ openapi: { method: 'GET', path: '/when' } })
    .output(
      z.object({ at: z.date(), day: z.date().meta({ format: 'date' }), list: z.array(z.date().nullable()) }),
    )
    .query(() => ({ at: new Date(0), day: new Date(0), list: [new Date(0), null] })),
  ping: echoProcedure({ method: 'GET', path: '/ping' }, z.void()),
  touch: echoProcedure({ method: 'POST', path: '/touch' }, z.undefined()),
  drop: echoProcedure({ method: 'DELETE', path: '/drop' }, z.void().optional()),
  note: echoProcedure({ method: 'POST', path: '/notes', contentTypes: readable }, Note.optional()),
  settle: echoProcedure({ method: 'POST', path: '/settings' }, z.object({ dark: z.boolean().optional() })),
  keep: echoProcedure({ method: 'POST', path: '/kept' }, Note),
  find: echoProcedure(
    { method: 'GET', path: '/found' },
    z
      .object({ text: z.string().meta({ description: 'What to look for.' }), most: z.int().optional() })
      .optional(),
  ),
});

let shape: Shape;
let client: Client;
beforeAll(async () => {
  shape = await openShape(inputsRouter);
  client = await connect({ ...shape.server, apiKey: 'none' });
});
afterAll(() => shape.close());

describe('query parameters', () => {
  it.each<[query: string, name: string, value: unknown]>([
    ['text=5', 'text', '5'],
    ['text=', 'text', ''],
    ['text=a+b%2Bc', 'text', 'a b+c'],
    ['minPages=-5', 'minPages', -5],
    ['minPages=007', 'minPages', 7],
    ['price=9.5', 'price', 9.5],
    ['price=1e3', 'price', 1000],
    ['inPrint=true', 'inPrint', true],
    ['inPrint=false', 'inPrint', false],
    ['barcode=9223372036854775808', 'barcode', '9223372036854775808n'],
    ['since=2026-02-28T12:00:00%2B02:00', 'since', 'Date(2026-02-28T10:00:00.000Z)'],
    ['genre=poetry', 'genre', 'poetry'],
    ['shelf=2', 'shelf', 2],
    ['shelf=annex', 'shelf', 'annex'],
    ['tag=one', 'tag', ['one']],
    ['tag=one&tag=two', 'tag', ['one', 'two']],
    ['year=2001&year=2002', 'year', [2001, 2002]],
    ['', 'year', [1999]],
    ['', 'sort', 'title'],
    ['volume=3', 'volume', 3],
    ['code=ab', 'code', 'AB'],
    ['ratio=0.5', 'ratio', 0.5],
    ['limit=10', 'limit', 10],
    ['limit=all', 'limit', 'all'],
    ['flag=yes', 'flag', true],
    ['reference=r1', 'reference', 'r1'],
  ])('GET /v1/books?%s passes %s: %j to the procedure', async (query, name, value) => {
    const response = await client.get(`/v1/books?${query}`);
    expect(response.json()).toHaveProperty(['input', name], value);
  });

  it.each([
    ['minPages=5.0', 'minPages'],
    ['minPages=+5', 'minPages'],
    ['minPages=', 'minPages'],
    ['minPages=9007199254740993', 'minPages'],
    ['price=0.1000000000000000055511151231257827', 'price'],
    ['price=1e400', 'price'],
    ['price=Infinity', 'price'],
    ['inPrint=1', 'inPrint'],
    ['inPrint=', 'inPrint'],
    ['barcode=1.5', 'barcode'],
    ['barcode=', 'barcode'],
    ['barcode=-', 'barcode'],
    ['limit=', 'limit'],
    ['since=2026-02-30T00:00:00Z', 'since'],
    ['since=2026-02-28', 'since'],
    ['genre=Poetry', 'genre'],
    ['shelf=3', 'shelf'],
    ['year=2001&year=x', 'year.1'],
    ['limit=some', 'limit'],
    ['text=%ff', 'text'],
    ['text=a&text=b', 'text'],
  ])('GET /v1/books?%s is rejected with 400, and the message names %s', async (query, name) => {
    const received = await client.get(`/v1/books?${query}`);
    expect(received.status).toBe(400);
    expect(received.error().message).toContain(`${name}:`);
  });
});

describe('an input that is empty, or optional as a whole', () => {
  const form = 'application/x-www-form-urlencoded';
  const multipart = 'multipart/form-data; boundary=x';
  const none = { input: 'undefined' };

  it.each<[target: string, input: object, sending: SendOptions]>([
    ['GET /v1/ping', none, {}],
    ['GET /v1/ping?unknown=1', none, {}],
    ['POST /v1/touch', none, {}],
    ['POST /v1/touch', none, { body: { unknown: 1 } }],
    ['POST /v1/touch', none, { body: 'not JSON', contentType: 'text/plain' }],
    ['DELETE /v1/drop', none, {}],
    ['POST /v1/notes', none, {}],
    ['POST /v1/notes', none, { body: '', contentType: null, chunked: true }],
    ['POST /v1/notes', none, { body: '' }],
    ['POST /v1/notes', none, { body: '', chunked: true }],
    ['POST /v1/notes', none, { body: '', contentType: form }],
    ['POST /v1/notes', none, { body: '', contentType: multipart }],
    ['POST /v1/notes', { input: { text: 'Hi', loud: false } }, { body: { text: 'Hi' } }],
    ['GET /v1/found', none, {}],
    ['GET /v1/found?unknown=1', none, {}],
    ['GET /v1/found?text=x', { input: { text: 'x' } }, {}],
    // An input that has only optional fields.
    ['POST /v1/settings', { input: {} }, {}],
    ['POST /v1/settings', { input: {} }, { body: '' }],
    ['POST /v1/settings', { input: {} }, { body: {} }],
  ])('%s passes %j to the procedure if it is sent with %j', async (target, passed, sending) => {
    const [method = '', path = ''] = target.split(' ');
    const response = await client.send(method, path, sending);
    expect([response.status, response.json()]).toEqual([200, passed]);
  });

  const untyped = { body: '{"text":"Hi"}', contentType: null };
  it.each<[target: string, sending: SendOptions, status: number, message: RegExp]>([
    ['POST /v1/notes', untyped, 415, /Content-Type must be application\/json or/],
    ['POST /v1/notes', { ...untyped, chunked: true }, 415, /Content-Type must be/],
    ['POST /v1/settings', { body: '{"dark":true}', contentType: null }, 415, /Content-Type must be/],
    ['POST /v1/notes', { body: '', contentType: 'text/csv' }, 415, /Content-Type must be/],
    ['POST /v1/notes', { body: {} }, 400, /^text: is required\.$/],
    ['POST /v1/notes', { body: null }, 400, /the body must be a JSON object/],
    ['POST /v1/notes', { body: ' ' }, 400, /The body is empty; send JSON\./],
    ['POST /v1/notes', { body: Buffer.from('"\xff"', 'latin1') }, 400, /The body is not valid UTF-8\./],
    ['GET /v1/found?most=1', {}, 400, /^text: is required\.$/],
    ['POST /v1/kept', { body: '' }, 400, /The body is empty; send JSON\./],
    ['POST /v1/kept', {}, 415, /Content-Type must be/],
  ])('%s with %j is rejected with %i', async (target, sending, status, message) => {
    const [method = '', path = ''] = target.split(' ');
    const response = await client.send(method, path, sending);
    expect([response.status, response.error().message]).toEqual([status, expect.stringMatching(message)]);
  });
});

describe('inputs in the document', () => {
  const operation = (path: string, method: string) => client.document.paths[path]?.[method];

  it('the document does not require parameters of a query that is optional as a whole, and describes no absent input', () => {
    expect(operation('/found', 'get')?.parameters).toEqual([
      expect.objectContaining({ in: 'query', name: 'text', description: 'What to look for.' }),
      expect.objectContaining({ in: 'query', name: 'most' }),
    ]);
    expect(operation('/found', 'get')?.parameters?.filter(({ required }) => required)).toEqual([]);
    // An operation without input has neither a body nor a 400.
    expect(operation('/touch', 'post')).not.toHaveProperty('requestBody');
    expect(Object.keys(operation('/ping', 'get')?.responses ?? {})).toEqual(['200', '500', '503', '504']);
  });
});

describe('a date in a JSON body', () => {
  const notDate = 'must be a date-time (RFC 3339), such as 2026-01-31T12:00:00Z';
  const text = '2026-02-28T12:00:00+02:00';
  const date = 'Date(2026-02-28T10:00:00.000Z)';

  it.each<[body: object, input: object]>([
    [{ at: text }, { at: date }],
    [{ nullable: text }, { nullable: date }],
    [{ nullable: null }, { nullable: null }],
    [{ nested: { at: text, text } }, { nested: { at: date, text } }],
    [{ list: [{ at: text }, { at: null }, {}] }, { list: [{ at: date }, { at: null }, {}] }],
    [{ pair: [text, text] }, { pair: [text, date] }],
    [{ byName: { a: text, b: text } }, { byName: { a: date, b: date } }],
    [{ dateOrNumber: text }, { dateOrNumber: date }],
    [{ dateOrNumber: 5 }, { dateOrNumber: 5 }],
    [{ dayOrDate: text }, { dayOrDate: date }],
    [{ dayOrDate: '2026-02-28' }, { dayOrDate: '2026-02-28' }],
    [{ textOrDate: text }, { textOrDate: text }],
    [{ event: { kind: 'timed', at: text } }, { event: { kind: 'timed', at: date } }],
    [{ event: { kind: 'noted', at: text } }, { event: { kind: 'noted', at: text } }],
    [{ either: { at: text, n: 1 } }, { either: { at: date, n: 1 } }],
    [{ either: { at: text, s: 'x' } }, { either: { at: text, s: 'x' } }],
    [{ both: { from: text, to: text } }, { both: { from: date, to: date } }],
    [{ own: '2026-02-28T10:00:00Z' }, { own: date }],
    [{ inner: { inner: { at: text } } }, { inner: { inner: { at: date } } }],
  ])('POST /v1/plans with %j passes %j to the procedure', async (body, input) => {
    const response = await client.send('POST', '/v1/plans', { body });
    expect([response.status, response.json()]).toEqual([200, { input }]);
  });

  it('POST /v1/plans reads a date beside constructor and __proto__', async () => {
    const body = `{"nested":{"at":"${text}","constructor":"x","__proto__":{"text":"y"}},"byName":{"constructor":"${text}","__proto__":"${text}"}}`;
    const response = await client.send('POST', '/v1/plans', { body });
    expect(response.json()).toEqual({ input: { nested: { at: date }, byName: { constructor: date } } });
    expect(Object.hasOwn(Object.prototype, 'text')).toBe(false);
  });

  it.each<[body: object, message: string]>([
    [{ at: '2026-02-28' }, `at: ${notDate}.`],
    [{ at: '2026-02-30T00:00:00Z' }, `at: ${notDate}.`],
    [{ at: 1772000000000 }, `at: ${notDate}.`],
    [{ nested: { at: 'x' } }, `nested.at: ${notDate}.`],
    [{ nested: {} }, 'nested.at: is required.'],
    [{ list: [{}, { at: 'x' }] }, `list.1.at: ${notDate}.`],
    [{ byName: { a: 'x' } }, `byName.a: ${notDate}.`],
    [{ event: { kind: 'timed', at: 'x' } }, `event.at: ${notDate}.`],
    [{ dateOrNumber: 'x' }, `dateOrNumber: ${notDate}, or must be a number, not a string.`],
    [{ event: { kind: 'timed', at: text, n: 'x' } }, 'event.n: must be a number, not a string.'],
    [{ at: 'x', pair: ['x', 'y'] }, `at: ${notDate}; pair.1: ${notDate}.`],
    [{ recent: '2019-12-31T23:59:59Z' }, 'recent: must be at least 2020-01-01T00:00:00.000Z.'],
  ])('POST /v1/plans with %j is rejected with 400: %s', async (body, message) => {
    const response = await client.send('POST', '/v1/plans', { body });
    expect(response.error()).toEqual({ code: 'BAD_REQUEST', message, status: 400 });
  });

  it('a date has the format date-time in the document, unless its schema names another', () => {
    const plan = client.document.components?.schemas?.['Times'] as { properties: Record<string, unknown> };
    const time = { type: 'string', format: 'date-time' };
    expect(plan.properties).toMatchObject({ at: time, byName: { additionalProperties: time } });
    const [at, own] = client.document.paths['/since']?.['get']?.parameters ?? [];
    expect([at?.schema, own?.schema]).toEqual([time, { type: 'string', format: 'date' }]);
    expect(
      client.document.paths['/when']?.['get']?.responses['200']?.content?.['application/json']?.schema,
    ).toMatchObject({
      properties: {
        at: time,
        day: { type: 'string', format: 'date' },
        list: { items: { anyOf: [time, { type: 'null' }] } },
      },
    });
  });
});
