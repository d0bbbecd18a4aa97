import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Compatibility, RestMeta } from '../../procedures/meta.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import { echoGateway, sendInput } from '../../testing/echoInput.ts';

const lenience = { compatibility: 'trpc-to-openapi' } as const;
/** Sends an input to a gateway of one procedure, which returns it. */
const send = async (
  options: { readonly compatibility?: Compatibility },
  openapi: RestMeta,
  input: z.ZodType,
  ...[target, body]: readonly [target: string, body?: unknown]
) => sendInput(await echoGateway(openapi, [input], options), openapi, target, { body });
const lenient = (openapi: RestMeta, input: z.ZodType, ...sent: readonly [target: string, body?: unknown]) =>
  send(lenience, openapi, input, ...sent);

const get: RestMeta = { method: 'GET', path: '/a' };
const post: RestMeta = { method: 'POST', path: '/a' };
const numeric = z.object({ n: z.number() });
const integer = z.object({ n: z.int() });
const members = z.object({ n: z.number(), list: z.array(z.boolean()) });

describe('the conversion of inputs', () => {
  it('is strict by default, and lenient with compatibility in the options or in the metadata', async () => {
    expect((await send({}, post, numeric, '/a', { n: '5' })).status).toBe(400);
    const kept: RestMeta = { ...post, compatibility: 'trpc-to-openapi' };
    for (const response of [
      await send({}, kept, numeric, '/a', { n: '5' }),
      await lenient(post, numeric, '/a', { n: '5' }),
    ]) {
      expect(response.body).toEqual({ n: 5 });
    }
  });

  it('the compatibility in the metadata replaces that of the options', async () => {
    const text = z.object({ q: z.string().optional() });
    const own = { ...get, compatibility: 'trpc-to-openapi-express' } as const;
    expect((await lenient(get, text, '/a?q=')).body).toEqual({ q: '' });
    expect((await lenient(own, text, '/a?q=')).body).toEqual({});
  });

  it.each<[what: string, input: z.ZodType, query: string, parsed: object]>([
    ['an ambiguous union', z.object({ q: z.union([z.string(), z.number()]) }), 'q=5', { q: '5' }],
    ['a union of types that share text', z.object({ q: z.literal(['5', 5]) }), 'q=5', { q: '5' }],
    ['a value that a function reads', z.object({ q: z.preprocess(Number, z.number()) }), 'q=5', { q: 5 }],
    ['an object that a function reads first', z.preprocess((value) => value, numeric), 'n=5', { n: 5 }],
    ['an object that is piped into another', z.object({ n: z.unknown() }).pipe(integer), 'n=5', { n: 5 }],
    ['an object that a function changes', numeric.transform(({ n }) => ({ n: n + 1 })), 'n=5', { n: 6 }],
    ['a set', z.object({ q: z.set(z.string()).optional() }), '', {}],
    ['lists of objects', z.object({ q: z.array(z.object({})).optional() }), '', {}],
    ['a record in brackets', z.object({ q: z.record(z.string(), z.unknown()) }), 'q[x]=5', { q: { x: '5' } }],
    ['members in brackets', z.object({ q: members }), 'q[n]=5.0&q[list]=1', { q: { n: 5, list: [true] } }],
    ['a typed unknown one', z.object({}).catchall(z.union([z.string(), z.number()])), 'q=5', { q: '5' }],
  ])('lenient serves %s in a query', async (_what, input, query, parsed) => {
    expect(await lenient(get, input, `/a?${query}`)).toMatchObject({
      status: 200,
      body: parsed,
    });
  });

  it('lenient converts a schema that contains itself', async () => {
    const node: z.ZodType = z.object({
      value: z.number(),
      get next() {
        return node.optional();
      },
      lazy: z.lazy(() => z.array(node).optional()),
    });
    const body = { value: '1', next: { value: true, next: { value: null } }, lazy: [{ value: '' }] };
    expect((await lenient(post, node, '/a', body)).body).toEqual({
      value: 1,
      next: { value: 1, next: { value: 0 } },
      lazy: [{ value: 0 }],
    });
  });

  it('an object in brackets may have 100 levels, and not 101', async () => {
    const statusOf = async (levels: number) => {
      let member: z.ZodType = z.string();
      for (let level = 0; level < levels; level += 1) member = z.object({ a: member });
      return (await send({}, get, z.object({ q: member }), `/a?q${'[a]'.repeat(levels)}=x`)).status;
    };
    expect([await statusOf(100), await statusOf(101)]).toEqual([200, 400]);
  });

  it.each<[what: string, sent: (digits: string) => unknown]>([
    ['a text', (digits) => digits],
    ['a text in a list', (digits) => [digits]],
  ])(
    'lenient converts a bigint of at most 1000 digits, whose time grows with their square: %s',
    async (_what, sent) => {
      const input = z.object({ b: z.bigint() });
      const statusOf = async (length: number) =>
        (await lenient(post, input, '/a', { b: sent('9'.repeat(length)) })).status;
      expect([await statusOf(1000), await statusOf(1001)]).toEqual([200, 400]);
    },
  );

  it.each([
    ['a strict object, by lenient', z.strictObject({ topic: z.string() }), lenience, { topic: 'a' }],
    ['a loose object, by lenient', z.looseObject({ topic: z.string() }), lenience, { topic: 'a' }],
    ['a loose object, by strict', z.looseObject({ topic: z.string() }), {}, { topic: 'a' }],
    [
      'an object with lastEventId, by lenient',
      z.strictObject({ topic: z.string(), lastEventId: z.string().optional() }),
      lenience,
      { topic: 'a', lastEventId: '5' },
    ],
  ] as const)(
    'a subscription that reconnects has the lastEventId only if its input names it: %s',
    async (_what, input, options, received) => {
      const ticks = t.procedure
        .meta({ openapi: { method: 'GET', path: '/ticks', event: z.unknown() } })
        .input(input as z.ZodObject)
        .subscription(async function* ({ input: value }) {
          yield value;
        });
      const { fetch: request } = await testGateway(t.router({ ticks }), options);
      const response = await request('http://localhost/v1/ticks?topic=a', {
        headers: { 'last-event-id': '5' },
      });
      expect(await response.text()).toContain(`data: ${JSON.stringify(received)}\n`);
    },
  );

  it('a schema of another library than zod is converted strictly', async () => {
    const other = {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => ({ type: 'object', properties: { n: { type: 'number' } } }),
          output: () => ({}),
        },
      },
    } as unknown as z.ZodType;
    expect((await lenient(get, other, '/a?n=5')).body).toEqual({ n: 5 });
    expect((await lenient(get, other, '/a?n=%205')).status).toBe(400);
  });
});
