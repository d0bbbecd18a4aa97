import { initTRPC } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { RequestRecord } from '../../calls/requestRecord.ts';
import { createGateway } from '../../gateway.ts';
import type { GatewayMeta, RestMeta } from '../../procedures/meta.ts';
import { trpcToOpenApiErrors } from '../../trpcToOpenApi.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

/** Returns a value as JSON, with the types that JSON lacks by name. */
function describeValue(value: unknown): unknown {
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (typeof value === 'bigint' || value === undefined) return `${typeof value}(${value})`;
  if (Array.isArray(value)) return value.map(describeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, describeValue(each)]));
}

function procedureOf(openapi: RestMeta, ...inputs: readonly z.ZodType[]) {
  const procedure = inputs.reduce(
    (base, input) => base.input(input as z.ZodObject) as unknown as typeof base,
    t.procedure.meta({ openapi }),
  );
  const output = procedure.output(z.unknown());
  const resolve = ({ input }: { readonly input: unknown }) => describeValue(input);
  return openapi.method === 'GET' ? output.query(resolve) : output.mutation(resolve);
}

type Sent = readonly [method: string, target: string, body?: unknown];

const init = ([method, , body]: Sent): RequestInit => ({
  method,
  ...(method !== 'GET' && method !== 'DELETE' && { headers: { 'content-type': 'application/json' } }),
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
});

/** Creates a gateway of one procedure, and returns its response and the record of it. */
async function send(
  options: { readonly strictness?: 'strict' | 'lenient' | 'report' },
  openapi: RestMeta,
  inputs: readonly z.ZodType[],
  target: string,
  body?: unknown,
) {
  const records: RequestRecord[] = [];
  const { fetch: request } = await createGateway({
    router: t.router({ a: procedureOf(openapi, ...inputs) }),
    createContext: () => ({}),
    document: { title: 'Strictness', version: '1.0.0' },
    errorFormat: trpcToOpenApiErrors,
    onResponse: (record) => records.push(record),
    ...options,
  });
  const response = await request(`http://localhost/v1${target}`, init([openapi.method ?? 'GET', '', body]));
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as unknown, record: records[0] };
}

const get: RestMeta = { method: 'GET', path: '/a' };
const post: RestMeta = { method: 'POST', path: '/a' };
const numeric = z.object({ n: z.number() });

describe('strictness', () => {
  it('is strict by default, and its metadata takes precedence over the option', async () => {
    expect((await send({}, post, [numeric], '/a', { n: '5' })).status).toBe(400);
    expect((await send({}, { ...post, strictness: 'lenient' }, [numeric], '/a', { n: '5' })).body).toEqual({
      n: 5,
    });
    const strict: RestMeta = { ...post, strictness: 'strict' };
    expect((await send({ strictness: 'lenient' }, strict, [numeric], '/a', { n: '5' })).status).toBe(400);
  });

  it.each<[what: string, openapi: RestMeta, input: z.ZodType, target: string, parsed: object]>([
    ['an ambiguous union', get, z.object({ q: z.union([z.string(), z.number()]) }), '/a?q=5', { q: '5' }],
    ['a union of types that share text', get, z.object({ q: z.literal(['5', 5]) }), '/a?q=5', { q: '5' }],
    [
      'a value that a function reads',
      get,
      z.object({ q: z.preprocess(Number, z.number()) }),
      '/a?q=5',
      { q: 5 },
    ],
    [
      'an object that a function reads first',
      get,
      z.preprocess((value) => value, numeric),
      '/a?n=5',
      { n: 5 },
    ],
    [
      'an object that is piped into another',
      get,
      z.object({ n: z.unknown() }).pipe(z.object({ n: z.int() })),
      '/a?n=5',
      { n: 5 },
    ],
    [
      'an object whose output a function changes',
      get,
      numeric.transform(({ n }) => ({ n: n + 1 })),
      '/a?n=5',
      { n: 6 },
    ],
    ['a set', get, z.object({ q: z.set(z.string()).optional() }), '/a', {}],
    ['lists of objects', get, z.object({ q: z.array(z.object({})).optional() }), '/a', {}],
    [
      'a record of anything in brackets',
      get,
      z.object({ q: z.record(z.string(), z.unknown()) }),
      '/a?q[x]=5',
      { q: { x: '5' } },
    ],
    [
      'an object in brackets, whose members are converted',
      get,
      z.object({ q: z.object({ n: z.number(), list: z.array(z.boolean()) }) }),
      '/a?q[n]=5.0&q[list]=1',
      { q: { n: 5, list: [true] } },
    ],
    [
      'a typed unknown parameter',
      get,
      z.object({}).catchall(z.union([z.string(), z.number()])),
      '/a?q=5',
      { q: '5' },
    ],
    [
      'a header',
      { ...get, in: { n: { in: 'header', name: 'accept-language' } } },
      z.object({ n: z.number().optional() }),
      '/a',
      {},
    ],
  ])('lenient serves %s in a query', async (_what, openapi, input, target, parsed) => {
    expect(await send({ strictness: 'lenient' }, openapi, [input], target)).toMatchObject({
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
    expect((await send({ strictness: 'lenient' }, post, [node], '/a', body)).body).toEqual({
      value: 1,
      next: { value: 1, next: { value: 0 } },
      lazy: [{ value: 0 }],
    });
  });

  it('an object in brackets may have 100 levels, and not 101', async () => {
    const statusOf = async (levels: number) => {
      let member: z.ZodType = z.string();
      for (let level = 0; level < levels; level += 1) member = z.object({ a: member });
      return (await send({}, get, [z.object({ q: member })], `/a?q${'[a]'.repeat(levels)}=x`)).status;
    };
    expect([await statusOf(100), await statusOf(101)]).toEqual([200, 400]);
  });

  it('lenient keeps the limit of depth', async () => {
    const body = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
    const { status } = await send(
      { strictness: 'lenient' },
      post,
      [z.object({ a: z.unknown() })],
      '/a',
      body,
    );
    expect(status).toBe(400);
  });

  it.each<[what: string, sent: (digits: string) => unknown]>([
    ['a text', (digits) => digits],
    ['a text in a list', (digits) => [digits]],
  ])(
    'lenient converts a bigint of at most 1000 digits, whose time grows with their square: %s',
    async (_what, sent) => {
      const statusOf = async (length: number) =>
        (
          await send({ strictness: 'lenient' }, post, [z.object({ b: z.bigint() })], '/a', {
            b: sent('9'.repeat(length)),
          })
        ).status;
      expect([await statusOf(1000), await statusOf(1001)]).toEqual([200, 400]);
    },
  );

  it('lenient converts the fields of a form', async () => {
    const form: RestMeta = { ...post, contentTypes: ['multipart/form-data'] };
    const { fetch: request } = await createGateway({
      router: t.router({ a: procedureOf(form, z.object({ n: z.number(), b: z.boolean() })) }),
      createContext: () => ({}),
      document: { title: 'Form', version: '1.0.0' },
      strictness: 'lenient',
    });
    const body = new FormData();
    body.append('n', '1e1');
    body.append('b', 'x');
    const response = await request('http://localhost/v1/a', { method: 'POST', body });
    expect(await response.json()).toEqual({ n: 10, b: true });
  });

  it.each([
    ['a strict object, by lenient', z.strictObject({ topic: z.string() }), 'lenient', { topic: 'a' }],
    ['a loose object, by lenient', z.looseObject({ topic: z.string() }), 'lenient', { topic: 'a' }],
    ['a loose object, by strict', z.looseObject({ topic: z.string() }), 'strict', { topic: 'a' }],
    [
      'an object with lastEventId, by lenient',
      z.strictObject({ topic: z.string(), lastEventId: z.string().optional() }),
      'lenient',
      { topic: 'a', lastEventId: '5' },
    ],
  ] as const)(
    'a subscription that reconnects has the lastEventId only if its input names it: %s',
    async (_what, input, strictness, received) => {
      const ticks = t.procedure
        .meta({ openapi: { method: 'GET', path: '/ticks', event: z.unknown() } })
        .input(input as z.ZodObject)
        .subscription(async function* ({ input: value }) {
          yield value;
        });
      const { fetch: request } = await createGateway({
        router: t.router({ ticks }),
        createContext: () => ({}),
        document: { title: 'Ticks', version: '1.0.0' },
        strictness,
      });
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
    expect((await send({ strictness: 'lenient' }, get, [other], '/a?n=5')).body).toEqual({ n: 5 });
    expect((await send({ strictness: 'lenient' }, get, [other], '/a?n=%205')).status).toBe(400);
  });

  const filter = z.object({ n: z.number(), b: z.boolean().optional(), at: z.date().optional() });
  it.each<[target: string, body: unknown, issues: readonly object[] | undefined]>([
    ['/a', { n: 5 }, undefined],
    [
      '/a',
      { n: '5', b: 'secret' },
      [
        { code: 'invalid_type', path: ['n'], message: 'Invalid input: expected number, received string' },
        { code: 'invalid_type', path: ['b'], message: 'Invalid input: expected boolean, received string' },
      ],
    ],
    ['/a', { n: 5, at: '2026-01-02T03:04:05Z' }, undefined],
    [
      '/a',
      '{"n":9007199254740993}',
      [{ code: 'custom', path: ['n'], message: 'contains a number that JSON cannot represent exactly' }],
    ],
    ['/a', '', [{ code: undefined, path: [], message: 'The body is empty; send JSON.' }]],
  ])(
    'report responds to POST %s with %j as lenient does, and records issues %j',
    async (target, body, issues) => {
      const lenient = await send({ strictness: 'lenient' }, post, [filter], target, body);
      const { record, ...response } = await send({ strictness: 'report' }, post, [filter], target, body);
      expect(response).toEqual({ status: lenient.status, body: lenient.body });
      expect(record?.strictIssues).toEqual(issues);
      expect(lenient.record?.strictIssues).toBeUndefined();
    },
  );

  it.each<[query: string, issues: readonly object[] | undefined]>([
    ['n=5&b=true', undefined],
    ['n=5&unknown=x', undefined],
    ['n=5&b=false', [{ path: ['b'], message: 'would have another value' }]],
    [
      'n=%205&b=1&at=2026-01-02',
      [
        { code: 'invalid_type', path: ['n'], message: 'must be a number' },
        { code: 'invalid_type', path: ['b'], message: 'must be true or false' },
        { code: 'invalid_type', path: ['at'], message: 'must be a date-time (RFC 3339)' },
      ],
    ],
    ['n=5&n=6', [{ code: 'invalid_type', path: ['n'], message: 'must not be sent more than once' }]],
  ])('report records the issues of the query %s', async (query, issues) => {
    const { record } = await send({ strictness: 'report' }, get, [filter], `/a?${query}`);
    expect(record?.strictIssues).toEqual(issues);
  });

  const coerced = z.object({ n: z.coerce.number(), s: z.string().optional() });
  const checked = z.object({ n: z.number(), c: z.string().refine(async () => true) });
  const nested = z.object({
    list: z.array(z.object({ b: z.union([z.boolean(), z.string()]), d: z.date() })),
  });
  const either = z.object({ d: z.union([z.date(), z.string()]).optional(), n: z.coerce.boolean() });
  const another = (...path: readonly PropertyKey[]) => ({ path, message: 'would have another value' });
  it.each<[what: string, openapi: RestMeta, input: z.ZodType, sent: unknown, issues: unknown]>([
    ['a parameter that is empty', get, coerced, 'n=5&s=', undefined],
    ['no input', get, coerced.partial().optional(), '', [another()]],
    ['a value that the schema itself converts', post, coerced, { n: '5' }, undefined],
    ['a value beside an asynchronous check', post, checked, { n: '5', c: 'x' }, [another('n')]],
    ['the same values with an asynchronous check', post, checked, { n: 5, c: 'x' }, undefined],
    ['equal dates in a list', post, nested, { list: [{ b: 'x', d: '2026-01-02T03:04:05Z' }] }, undefined],
    ['a text in place of a date', post, either, { d: '2026-01-02T03:04:05Z', n: 1 }, [another('d')]],
  ])(
    'report names changed values of an input that strict accepts: %s',
    async (_what, openapi, input, sent, issues) => {
      const target = typeof sent === 'string' ? `/a?${sent}` : '/a';
      const body = typeof sent === 'string' ? undefined : sent;
      const { record, status } = await send({ strictness: 'report' }, openapi, [input], target, body);
      expect([status, record?.strictIssues]).toEqual([200, issues]);
    },
  );

  it('the records of all requests have the same members in the same order, which V8 reads fastest', async () => {
    const [reported, lenient] = await Promise.all(
      (['report', 'lenient'] as const).map((strictness) =>
        send({ strictness }, post, [filter], '/a', { n: '5' }),
      ),
    );
    expect(reported?.record?.strictIssues).toHaveLength(1);
    expect(Object.keys(lenient?.record ?? {})).toEqual(Object.keys(reported?.record ?? {}));
  });

  it('report records at most 20 issues', async () => {
    const list = { list: Array.from({ length: 100_000 }, () => '5') };
    const input = z.object({ list: z.array(z.number()) });
    const { record, status } = await send({ strictness: 'report' }, post, [input], '/a', list);
    expect([status, record?.strictIssues?.length]).toEqual([200, 20]);
  });

  it('report warns at start of an input that strict conversion cannot read, and records no issues', async () => {
    const union = z.object({ q: z.union([z.string(), z.number()]) });
    // oxlint-disable-next-line no-console -- the gateway warns there
    const printer = vi.mocked(console.error).mockReturnValue();
    const { body, record } = await send({ strictness: 'report' }, get, [union], '/a?q=5');
    expect([body, record?.strictIssues]).toEqual([{ q: '5' }, undefined]);
    expect(printer.mock.calls).toEqual([
      [
        expect.stringMatching(
          /procedure "a": with strictness: 'strict' it cannot be served .* is a union in/,
        ),
      ],
    ]);
    printer.mockClear();
  });
});
