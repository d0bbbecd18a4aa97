import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { post, put, send, startShape } from '../startShape.ts';
import { echo, json, patchTypes, t } from './inputPlaces.ts';
import * as inputs from './inputPlaces.ts';

const notObject = /must be a JSON object/;
const tooDeep = /nested deeper than 100 levels/;
const notInteger = 'must be an integer, such as 42 or -7';

type Described = Pick<Awaited<ReturnType<typeof startShape>>, 'document'>['document'];
const operationOf = (document: Described, path: string) => Object.values(document.paths[path] ?? {})[0];
/** The parameters of the operation at a path: `query name`, and `*` if it is required. */
const parametersOf = (document: Described, path: string) =>
  operationOf(document, path)?.parameters?.map(
    ({ in: where, name, required }) => `${where} ${name}${required ? '*' : ''}`,
  );
const bodyOf = (document: Described, path: string) => operationOf(document, path)?.requestBody;

describe('a body over REST', () => {
  it('a body may be a discriminated union, which the document describes with its discriminator (trpc-openapi #255)', async () => {
    const { document, expectRest } = await startShape(inputs.animals);
    const [cat, dog] = [
      { kind: 'cat', lives: 9 },
      { kind: 'dog', born: '2026-01-01T00:00:00.000Z' },
    ] as const;
    await expectRest([
      ['/animals', post(cat), 200, cat],
      ['/animals', post({ kind: 'dog', born: '2026-01-01T00:00:00Z' }), 200, dog],
      ['/animals', post({ kind: 'cat', lives: 'nine' }), 400, 'lives: must be a number, not a string.'],
      ['/animals', post({ kind: 'fish' }), 400, /^kind: /],
      ['/animals', post(['cat']), 400, notObject],
    ]);
    expect(bodyOf(document, '/animals')).toEqual({
      required: true,
      content: {
        [json]: {
          schema: {
            type: 'object',
            oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
            discriminator: {
              propertyName: 'kind',
              mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' },
            },
          },
        },
      },
    });
  });

  it('a body may be a union beside a parameter of the path and one of the query (trpc-openapi #255)', async () => {
    const { document, expectRest } = await startShape(inputs.payments);
    const [path, card] = ['/orders/7/payments', { card: '4242', dryRun: false, orderId: 1 }];
    await expectRest([
      [`${path}?dryRun=true`, post(card), 200, { card: '4242', dryRun: true, orderId: 7 }],
      [path, post({ iban: 'DE1', name: 'A', dryRun: true }), 200, { iban: 'DE1', name: 'A', orderId: 7 }],
      [path, post({ iban: 'DE1' }), 400, /./],
    ]);
    expect(parametersOf(document, '/orders/{orderId}/payments')).toEqual(['path orderId*', 'query dryRun']);
    const body = JSON.stringify(bodyOf(document, '/orders/{orderId}/payments'));
    expect(body).toContain('iban');
    expect(body).not.toContain('dryRun');
  });

  it('a body may be a union whose discriminator is in the path', async () => {
    const { document, expectRest } = await startShape(inputs.animalsByPath);
    const [cat, born] = [{ kind: 'cat', lives: 9 }, '2026-01-01T00:00:00.000Z'];
    await expectRest([
      ['/animals/cat', put({ lives: 9 }), 200, cat],
      ['/animals/dog', put({ born: '2026-01-01T00:00:00Z' }), 200, { kind: 'dog', born }],
      ['/animals/cat', put({ kind: 'dog', lives: 9 }), 200, cat],
      ['/animals/fish', put({ lives: 9 }), 400, 'kind: must be one of "cat", "dog".'],
    ]);
    expect(operationOf(document, '/animals/{kind}')?.parameters).toEqual([
      { in: 'path', name: 'kind', required: true, schema: { type: 'string', enum: ['cat', 'dog'] } },
    ]);
  });

  it('a body may be an array (trpc-openapi #196)', async () => {
    const { document, expectRest } = await startShape(inputs.eventLog);
    const at = '2026-01-01T00:00:00.000Z';
    const nested = (levels: number) => ({ ...post(''), body: '['.repeat(levels) + ']'.repeat(levels) });
    const rounded = { ...post(''), body: `[{"at":"${at}","n":9007199254740993}]` };
    await expectRest([
      ['/events', post([{ at, n: 1 }]), 200, [{ at, n: 1 }]],
      ['/events', post([]), 200, []],
      ['/events', post({ at, n: 1 }), 400, 'input: must be an array, not an object.'],
      ['/events', post([{ at, n: '1' }]), 400, '0.n: must be a number, not a string.'],
      ['/events', rounded, 400, /JSON cannot represent exactly/],
      ['/events', nested(100), 400, /^0: must be an object/],
      ['/events', nested(101), 400, tooDeep],
      ['/events', { method: 'POST' }, 415],
    ]);
    expect(bodyOf(document, '/events')).toMatchObject({
      required: true,
      content: { [json]: { schema: { type: 'array', maxItems: 2 } } },
    });
  });

  it('a body may be a string, a number or null (trpc-openapi #437)', async () => {
    const { document, expectRest } = await startShape(inputs.scalars);
    await expectRest([
      ['/greetings', post('hello'), 200, 'hello'],
      ['/greetings', post(5), 400, 'input: must be a string, not a number.'],
      ['/greetings', { ...post(''), body: 'hello' }, 400, 'The body is not valid JSON.'],
      ['/level', put(5), 200, 5],
      ['/level', put(null), 200, null],
      ['/level', { method: 'PUT' }, 200, null],
      ['/level', put('5'), 400, 'input: must be a number, not a string.'],
    ]);
    expect(bodyOf(document, '/level')).toMatchObject({
      required: false,
      content: { [json]: { schema: { anyOf: [{ type: 'integer' }, { type: 'null' }] } } },
    });
  });

  it('a body may be a record, or a union of an array, an object and null, or an intersection beside a path (trpc-openapi #437)', async () => {
    const { expectRest } = await startShape(inputs.records);
    const hostile = { ...put(''), body: '{"__proto__":"x","constructor":"y"}' };
    await expectRest([
      ['/texts', put({ en: 'dog', de: 'Hund' }), 200, { en: 'dog', de: 'Hund' }],
      ['/texts', put({ en: 1 }), 400, 'en: must be a string, not a number.'],
      ['/texts', hostile, 200, { constructor: 'y' }],
      ['/any', put([1]), 200, [1]],
      ['/any', put({ a: 1 }), 200, { a: 1 }],
      ['/any', put(null), 200, null],
    ]);
    const notes = await startShape(inputs.notes);
    await notes.expectRest([['/notes/a', send('PATCH', { title: 'b' }), 200, { title: 'b', id: 'a' }]]);
  });

  it('a body may be a merge patch, in which null removes a field and a missing field is kept (ts-rest #868)', async () => {
    const { document, expectRest, rest } = await startShape(inputs.mergePatch);
    const patch = (body: unknown, type = 'application/merge-patch+json') => ({
      method: 'PATCH',
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    });
    await expectRest([
      ['/books/1', patch({ isbn: null }), 200, { id: 1, isbn: null }],
      ['/books/1', patch({ title: 'Emma' }, `${json}; charset=utf-8`), 200, { id: 1, title: 'Emma' }],
      ['/books/1', patch({ title: null }), 400, 'title: must be a string, not null.'],
      ['/books/1', patch([]), 400, notObject],
    ]);
    const other = await rest('/books/1', patch({}, 'application/json-patch+json'));
    expect([other.status, other.headers.get('accept-patch')]).toEqual([415, patchTypes.join(', ')]);
    const options = await rest('/books/1', { method: 'OPTIONS' });
    expect(options.headers.get('accept-patch')).toBe(patchTypes.join(', '));
    expect(Object.keys(bodyOf(document, '/books/{id}')?.content ?? {})).toEqual(patchTypes);
  });
});

describe('a query over REST', () => {
  it('a query may be a union of objects (trpc-openapi #255, ts-rest #800)', async () => {
    const { document, expectRest } = await startShape(inputs.queryUnion);
    await expectRest([
      ['/thing?type=first&myVar=5', {}, 200, { type: 'first', myVar: '5' }],
      ['/thing?type=another&anotherVar=5', {}, 200, { type: 'another', anotherVar: 5 }],
      ['/thing?type=third', {}, 200, { type: 'third' }],
      ['/thing?type=first', {}, 400],
      ['/thing?type=fourth', {}, 400, /^type: must be one of "first", "another", "third"/],
    ]);
    expect(parametersOf(document, '/thing')).toEqual(['query type*', 'query myVar', 'query anotherVar']);
  });

  it('a query may have nested objects, with the style deepObject by default (trpc-openapi #454)', async () => {
    const { document, expectRest } = await startShape(inputs.deepObjects);
    const page2 = { pagination: { page: 2, limit: 10 }, filter: { name: '5' } };
    const range3 = { filter: { range: { min: 3 } } };
    const unbracketed =
      'pagination: is written as "pagination"; write each of its members as pagination[name].';
    await expectRest([
      ['/things?pagination[page]=2&filter%5Bname%5D=5', {}, 200, page2],
      ['/things?filter[range][min]=3&filter[other]=1&other[a]=1', {}, 200, range3],
      ['/things?filter[__proto__][min]=1&filter[constructor]=2', {}, 200, {}],
      ['/things?pagination[page]=two&pagination[limit]=101', {}, 400, `pagination.page: ${notInteger}.`],
      ['/things?pagination[limit]=101', {}, 400, 'pagination.limit: must be at most 100.'],
      // Arrays repeat their name (trpc-openapi #391, hapi-openapi #208).
      ['/things?filter%5Bids%5D=1&filter[ids]=2', {}, 200, { filter: { ids: [1, 2] } }],
      ['/things?filter[ids]=1&filter[ids]=x', {}, 400, `filter.ids.1: ${notInteger}.`],
      ['/things?pagination=1', {}, 400, unbracketed],
      [`/things?filter${'[a]'.repeat(101)}=1`, {}, 400, tooDeep],
    ]);
    expect(operationOf(document, '/things')?.parameters).toEqual([
      expect.objectContaining({ name: 'pagination', in: 'query', style: 'deepObject', explode: true }),
      expect.objectContaining({
        name: 'filter',
        style: 'deepObject',
        explode: true,
        description: 'Names continue in brackets, such as `filter[a][b]=…`; arrays repeat their name.',
      }),
    ]);
  });

  it('a query may have records and filters that contain themselves (OpenAPI-Specification #1706)', async () => {
    const { expectRest } = await startShape(inputs.selfReferences);
    const filter = { not: { is: 'a', not: { is: 'b' } } };
    await expectRest([
      ['/found?sort[name]=asc&sort[age]=desc', {}, 200, { sort: { name: 'asc', age: 'desc' } }],
      ['/found?sort[__proto__]=asc&sort[constructor]=asc', {}, 200, { sort: { constructor: 'asc' } }],
      ['/found?sort[name]=up', {}, 400, /^sort.name: must be one of "asc", "desc"/],
      ['/found?filter[not][is]=a&filter[not][not][is]=b', {}, 200, { filter }],
    ]);
  });

  it('the Link to the next page keeps query parameters, lists and objects', async () => {
    const { rest } = await startShape(inputs.pages);
    const first = await rest('/pages/a%2Fb/c?tags=a,b&tags=c&ids=1&ids=2&filter[name]=%26&other=1');
    const link = first.headers.get('link') ?? '';
    const next = /^<\/v1(.*)>; rel="next"$/.exec(link)?.[1] ?? '';
    const second = await rest(next);
    expect(await second.json()).toEqual({ ...((await first.json()) as object), after: 'x & y' });
    expect(next).toBe(
      '/pages/a%2Fb/c?tags=a,b&tags=c&ids=1&ids=2&filter%5Bname%5D=%26&other=1&after=x%20%26%20y',
    );
  });
});

describe('the location of a property', () => {
  it('a property may travel in the query of a POST (trpc-openapi #324)', async () => {
    const { document, expectRest, trpc } = await startShape(inputs.queryOfPost);
    const body = { event: 'e', token: 'b', tries: 9 };
    await expectRest([
      ['/hooks?token=a&max-tries=3', post(body), 200, { token: 'a', tries: 3, event: 'e' }],
      ['/hooks', post({ event: 'e', token: 'b' }), 400, 'token (query): is required.'],
      [
        '/hooks?max-tries=x&token=a',
        post({}),
        400,
        `tries (query max-tries): ${notInteger}; event: is required.`,
      ],
      // The last part of a path is no parameter.
      [
        '/hooks?token=a',
        post({ event: 'e', more: { token: 5 } }),
        400,
        'more.token: must be a string, not a number.',
      ],
    ]);
    expect(await trpc.hook.mutate({ token: 'a', event: 'e' })).toEqual({ token: 'a', event: 'e' });
    expect(parametersOf(document, '/hooks')).toEqual(['query token*', 'query max-tries']);
    const properties = bodyOf(document, '/hooks')?.content[json]?.schema?.properties;
    expect(properties).toMatchObject({ event: { type: 'string' } });
    expect(properties).not.toHaveProperty('token');
  });

  it('a property may travel in headers, converted and checked like a query (trpc-openapi #113)', async () => {
    const page = 'https://page.example';
    const cors = { origins: [page] };
    const { document, expectRest, rest, trpc } = await startShape(inputs.inHeaders, { cors });
    const tenant = (value: string, ...more: [string, string][]): RequestInit => ({
      headers: [['x-tenant', value], ...more],
    });
    const at = '2026-01-01T00:00:00.000Z';
    const all = tenant('7', ['X-FEATURES', 'a, b'], ['At', '2026-01-01T00:00:00Z']);
    await expectRest([
      ['/things?name=n', all, 200, { tenant: 7, features: ['a', 'b'], at, name: 'n' }],
      ['/things?name=n', tenant('7', ['X-Features', ',']), 200, { tenant: 7, features: [], name: 'n' }],
      ['/things', tenant('7.0'), 400, `tenant (header X-Tenant): ${notInteger}; name: is required.`],
      ['/things?name=n', tenant(''), 400, `tenant (header X-Tenant): ${notInteger}.`],
      ['/things?name=n', tenant('0'), 400, 'tenant (header X-Tenant): must be at least 1.'],
      ['/things?name=n&tenant=7', {}, 400, 'tenant (header X-Tenant): is required.'],
      ['/things?name=n', tenant('1', ['X-Tenant', '2']), 400, /^tenant \(header X-Tenant\): /],
      [
        '/things?name=n',
        tenant('1', ['X-Features', 'a,c']),
        400,
        'features (header X-Features): must be one of "a", "b".',
      ],
    ]);
    expect(await trpc.list.query({ tenant: 7, name: 'n' })).toEqual({ tenant: 7, name: 'n' });
    const preflight = await rest('/things', {
      method: 'OPTIONS',
      headers: {
        origin: page,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'at,x-features,x-tenant',
      },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toBe('at,x-features,x-tenant');
    const parameters = ['query name*', 'header X-Tenant*', 'header X-Features', 'header at'];
    expect(parametersOf(document, '/things')).toEqual(parameters);
  });

  it('a property may travel in cookies (honojs/middleware #141)', async () => {
    const { document, expectRest, trpc } = await startShape(inputs.inCookies);
    const sent = (cookie: string) => ({ headers: { cookie } });
    await expectRest([
      ['/look', sent('a=b; theme=dark; __Host-size=5'), 200, { theme: 'dark', size: 5 }],
      ['/look', sent('theme=d%61rk;__Host-size="5"'), 400, `size (cookie __Host-size): ${notInteger}.`],
      ['/look', sent('theme=dark; theme=light'), 200, { theme: 'dark' }],
      ['/look', sent('theme=%ff'), 400, 'theme (cookie): is not valid percent-encoded UTF-8.'],
      ['/look', sent('THEME=dark; __proto__=1'), 200, { theme: 'light' }],
      ['/look?theme=dark', {}, 200, { theme: 'light' }],
    ]);
    expect(await trpc.look.query({ theme: 'dark' })).toEqual({ theme: 'dark' });
    expect(parametersOf(document, '/look')).toEqual(['cookie theme', 'cookie __Host-size']);
  });

  it('a property may travel in the body of a DELETE', async () => {
    const { document, expectRest, trpc } = await startShape(inputs.bodyOfDelete);
    const sent = send('DELETE', { reason: 'r' });
    await expectRest([
      ['/things/1?force=true', sent, 200, { id: 1, reason: 'r', force: true }],
      ['/things/1', { method: 'DELETE' }, 415],
    ]);
    expect(await trpc.drop.mutate({ id: 1, reason: 'r' })).toEqual({ id: 1, reason: 'r', force: false });
    expect(bodyOf(document, '/things/{id}')?.required).toBe(true);
  });

  it('a property may travel in the path under another name', async () => {
    const { document, expectRest } = await startShape(inputs.renamedInPath);
    await expectRest([
      ['/pets/7', {}, 200, { id: 7 }],
      ['/pets/x', {}, 400, `id (path petId): ${notInteger}.`],
    ]);
    expect(parametersOf(document, '/pets/{petId}')).toEqual(['path petId*']);
  });

  it('a property may travel in the rest of the path (OpenAPI-Specification #892, Swashbuckle.AspNetCore #1100)', async () => {
    const { document, expectRest, trpc } = await startShape(inputs.restOfPath);
    await expectRest([
      ['/files/a', {}, 200, { path: 'a' }],
      ['/files/a/b%20c/d', {}, 200, { path: 'a/b c/d' }],
      ['/files/a%2Fb/', {}, 200, { path: 'a/b/' }],
      ['/files/info', {}, 200, {}],
      ['/files/info/x', {}, 200, { path: 'info/x' }],
      ['/files/a/%ff', {}, 400, 'path: is not valid percent-encoded UTF-8.'],
      ['/files/', {}, 404],
      ['/files', {}, 404],
      ['/buckets/b', {}, 200, { bucket: 'b' }],
      ['/buckets/b/x%2Fy/z', {}, 200, { bucket: 'b', key: ['x/y', 'z'] }],
      ['/buckets/b/x/%ff', {}, 400, 'key.1: is not valid percent-encoded UTF-8.'],
    ]);
    expect(await trpc.file.query({ path: 'a/b' })).toEqual({ path: 'a/b' });
    expect(operationOf(document, '/files/{path}')?.parameters).toEqual([
      {
        in: 'path',
        name: 'path',
        required: true,
        schema: { type: 'string' },
        description: 'The rest of the path, which may contain slashes (RFC 6570 `{+path}`).',
      },
    ]);
  });
});

const items = t.router({
  read: echo(
    { method: 'GET', path: '/items/{id}' },
    z.object({ id: z.int(), n: z.int().optional(), lastEventId: z.string().optional() }),
  ),
});

const tooLarge = 'id: must be within ±(2^53−1); larger integers cannot be represented exactly.';
const notFound = {
  code: 'NOT_FOUND',
  message: 'There is no resource with this identifier.',
  status: 404,
};

it('an id in a path beyond ±(2^53−1) is answered with 404 if it has 64 bits, else with 400, and Last-Event-ID is no part of a query', async () => {
  const { expectRest } = await startShape(items);
  const headers = { 'last-event-id': '5' };
  await expectRest([
    ['/items/9007199254740991', {}, 200, { id: 9_007_199_254_740_991 }],
    // Integers of 64 bits, which another client may have as an id.
    ['/items/9007199254740992', {}, 404, notFound],
    ['/items/9223372036854775807', {}, 404, notFound],
    ['/items/-9223372036854775808', {}, 404, notFound],
    ['/items/9223372036854775808', {}, 400, tooLarge],
    ['/items/-9223372036854775809', {}, 400, tooLarge],
    ['/items/9223372036854775807?n=x', {}, 400, `n: ${notInteger}; ${tooLarge}`],
    ['/items/1?lastEventId=a', { headers }, 200, { id: 1, lastEventId: 'a' }],
  ]);
});
