import { createGateway } from 'trpc-gateway';
import type { RestMeta } from 'trpc-gateway/procedures';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { post, startShape } from '../startShape.ts';
import {
  animals,
  animalsByPath,
  bodyOfDelete,
  contentTypes,
  inCookies,
  deepObjects,
  echo,
  eventLog,
  inHeaders,
  json,
  mergePatch,
  notes,
  pages,
  patchTypes,
  payments,
  queryMethod,
  queryOfPost,
  queryUnion,
  records,
  renamedInPath,
  repeated,
  restOfPath,
  scalars,
  selfReferences,
  t,
  trimmed,
  tuples,
} from './inputPlaces.ts';

const error400 = (message: string | RegExp) => [
  400,
  {
    code: 'BAD_REQUEST',
    status: 400,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  },
];

describe('a body over REST', () => {
  it('a body may be a discriminated union, which the document describes with its discriminator (trpc-openapi #255)', async () => {
    const { document, restJson, trpc } = await startShape(animals);
    expect(await restJson('/animals', post({ kind: 'cat', lives: 9 }))).toEqual([
      200,
      { kind: 'cat', lives: 9 },
    ]);
    expect(await restJson('/animals', post({ kind: 'dog', born: '2026-01-01T00:00:00Z' }))).toEqual([
      200,
      { kind: 'dog', born: '2026-01-01T00:00:00.000Z' },
    ]);
    expect(await restJson('/animals', post({ kind: 'cat', lives: 'nine' }))).toEqual(
      error400('lives: must be a number, not a string.'),
    );
    expect(await restJson('/animals', post({ kind: 'fish' }))).toEqual(error400(/^kind: /));
    expect(await restJson('/animals', post(['cat']))).toEqual(error400(/must be a JSON object/));
    expect(await trpc.add.mutate({ kind: 'cat', lives: 9 })).toEqual({ kind: 'cat', lives: 9 });
    expect(document.paths['/animals']?.['post']?.requestBody).toEqual({
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
    const { document, restJson, trpc } = await startShape(payments);
    const target = '/orders/7/payments?dryRun=true';
    expect(await restJson(target, post({ card: '4242', dryRun: false, orderId: 1 }))).toEqual([
      200,
      { card: '4242', dryRun: true, orderId: 7 },
    ]);
    expect(await restJson('/orders/7/payments', post({ iban: 'DE1', name: 'A', dryRun: true }))).toEqual([
      200,
      { iban: 'DE1', name: 'A', orderId: 7 },
    ]);
    expect(await restJson('/orders/7/payments', post({ iban: 'DE1' }))).toEqual(error400(/./));
    expect(await trpc.pay.mutate({ orderId: 7, card: '4242' })).toEqual({ orderId: 7, card: '4242' });
    const operation = document.paths['/orders/{orderId}/payments']?.['post'];
    expect(
      operation?.parameters?.map((parameter) => [parameter.in, parameter.name, parameter.required]),
    ).toEqual([
      ['path', 'orderId', true],
      ['query', 'dryRun', undefined],
    ]);
    expect(JSON.stringify(operation?.requestBody)).toContain('iban');
    expect(JSON.stringify(operation?.requestBody)).not.toContain('dryRun');
  });

  it('a body may be a union whose discriminator is in the path', async () => {
    const { document, restJson } = await startShape(animalsByPath);
    const put = (kind: string, body: unknown) =>
      restJson(`/animals/${kind}`, { ...post(body), method: 'PUT' });
    expect(await put('cat', { lives: 9 })).toEqual([200, { kind: 'cat', lives: 9 }]);
    expect(await put('dog', { born: '2026-01-01T00:00:00Z' })).toEqual([
      200,
      { kind: 'dog', born: '2026-01-01T00:00:00.000Z' },
    ]);
    expect(await put('cat', { kind: 'dog', lives: 9 })).toEqual([200, { kind: 'cat', lives: 9 }]);
    expect(await put('fish', { lives: 9 })).toEqual(error400('kind: must be one of "cat", "dog".'));
    expect(document.paths['/animals/{kind}']?.['put']?.parameters).toEqual([
      { in: 'path', name: 'kind', required: true, schema: { type: 'string', enum: ['cat', 'dog'] } },
    ]);
  });

  it('a body may be an array (trpc-openapi #196)', async () => {
    const { document, restJson, trpc } = await startShape(eventLog);
    const at = '2026-01-01T00:00:00.000Z';
    expect(await restJson('/events', post([{ at, n: 1 }]))).toEqual([200, [{ at, n: 1 }]]);
    expect(await restJson('/events', post([]))).toEqual([200, []]);
    expect(await restJson('/events', post({ at, n: 1 }))).toEqual(
      error400('input: must be an array, not an object.'),
    );
    expect(await restJson('/events', post([{ at, n: '1' }]))).toEqual(
      error400('0.n: must be a number, not a string.'),
    );
    const rounded = { ...post(''), body: `[{"at":"${at}","n":9007199254740993}]` };
    expect(await restJson('/events', rounded)).toEqual(error400(/JSON cannot represent exactly/));
    const nested = (levels: number) => ({ ...post(''), body: '['.repeat(levels) + ']'.repeat(levels) });
    expect(await restJson('/events', nested(100))).toEqual(error400(/^0: must be an object/));
    expect(await restJson('/events', nested(101))).toEqual(error400(/nested deeper than 100 levels/));
    expect((await restJson('/events', { method: 'POST' }))[0]).toBe(415);
    expect(document.paths['/events']?.['post']?.requestBody).toMatchObject({
      required: true,
      content: { [json]: { schema: { type: 'array', maxItems: 2 } } },
    });
    expect(await trpc.log.mutate([]).catch((error: unknown) => error)).toEqual([]);
  });

  it('a body may be a string, a number or null (trpc-openapi #437)', async () => {
    const { document, restJson, trpc } = await startShape(scalars);
    expect(await restJson('/greetings', post('hello'))).toEqual([200, 'hello']);
    expect(await restJson('/greetings', post(5))).toEqual(error400('input: must be a string, not a number.'));
    expect(await restJson('/greetings', { ...post(''), body: 'hello' })).toEqual(
      error400('The body is not valid JSON.'),
    );
    const put = (body: unknown) => restJson('/level', { ...post(body), method: 'PUT' });
    expect([await put(5), await put(null), await restJson('/level', { method: 'PUT' })]).toEqual([
      [200, 5],
      [200, null],
      [200, null],
    ]);
    expect(await put('5')).toEqual(error400('input: must be a number, not a string.'));
    expect(await trpc.greet.mutate('hello')).toBe('hello');
    expect(document.paths['/level']?.['put']?.requestBody).toMatchObject({
      required: false,
      content: { [json]: { schema: { anyOf: [{ type: 'integer' }, { type: 'null' }] } } },
    });
  });

  it('a body may be a record, or a union of an array, an object and null', async () => {
    const { restJson, trpc } = await startShape(records);
    const put = (path: string, body: unknown) => restJson(path, { ...post(body), method: 'PUT' });
    expect(await put('/texts', { en: 'dog', de: 'Hund' })).toEqual([200, { en: 'dog', de: 'Hund' }]);
    expect(await put('/texts', { en: 1 })).toEqual(error400('en: must be a string, not a number.'));
    const hostile = { ...post(''), method: 'PUT', body: '{"__proto__":"x","constructor":"y"}' };
    expect(await restJson('/texts', hostile)).toEqual([200, { constructor: 'y' }]);
    expect([await put('/any', [1]), await put('/any', { a: 1 }), await put('/any', null)]).toEqual([
      [200, [1]],
      [200, { a: 1 }],
      [200, null],
    ]);
    expect(await trpc.translate.mutate({ en: 'dog' })).toEqual({ en: 'dog' });
  });

  it('a body may be preprocessed, and the document describes its output (trpc-openapi #166)', async () => {
    const { document, restJson, trpc } = await startShape(trimmed);
    expect(await restJson('/greetings', post(' abc '))).toEqual([200, 'abc']);
    expect(await trpc.greet.mutate(' abc ')).toBe('abc');
    expect((await restJson('/greetings', { method: 'POST' }))[0]).toBe(415);
    expect(document.paths['/greetings']?.['post']?.requestBody).toEqual({
      required: true,
      content: { [json]: { schema: { type: 'string', maxLength: 3 } } },
    });
  });

  it('a body may be an intersection beside a parameter of the path (trpc-openapi #437)', async () => {
    const { restJson } = await startShape(notes);
    expect(await restJson('/notes/a', { ...post({ title: 'b' }), method: 'PATCH' })).toEqual([
      200,
      { title: 'b', id: 'a' },
    ]);
  });

  it('a body may be a merge patch, in which null removes a field and a missing field is kept (ts-rest #868)', async () => {
    const { document, rest, restJson, trpc } = await startShape(mergePatch);
    const patch = (body: unknown, type = 'application/merge-patch+json') => ({
      method: 'PATCH',
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    });
    expect(await restJson('/books/1', patch({ isbn: null }))).toEqual([200, { id: 1, isbn: null }]);
    expect(await restJson('/books/1', patch({ title: 'Emma' }, `${json}; charset=utf-8`))).toEqual([
      200,
      { id: 1, title: 'Emma' },
    ]);
    expect(await restJson('/books/1', patch({ title: null }))).toEqual(
      error400('title: must be a string, not null.'),
    );
    expect(await restJson('/books/1', patch([]))).toEqual(error400(/must be a JSON object/));
    const other = await rest('/books/1', patch({}, 'application/json-patch+json'));
    expect([other.status, other.headers.get('accept-patch')]).toEqual([415, patchTypes.join(', ')]);
    const options = await rest('/books/1', { method: 'OPTIONS' });
    expect(options.headers.get('accept-patch')).toBe(patchTypes.join(', '));
    expect(Object.keys(document.paths['/books/{id}']?.['patch']?.requestBody?.content ?? {})).toEqual(
      patchTypes,
    );
    expect(await trpc.edit.mutate({ id: 1, isbn: null })).toEqual({ id: 1, isbn: null });
  });
});

describe('a query over REST', () => {
  it('a query may be a union of objects (trpc-openapi #255, ts-rest #800)', async () => {
    const { document, restJson, trpc } = await startShape(queryUnion);
    expect(await restJson('/thing?type=first&myVar=5')).toEqual([200, { type: 'first', myVar: '5' }]);
    expect(await restJson('/thing?type=another&anotherVar=5')).toEqual([
      200,
      { type: 'another', anotherVar: 5 },
    ]);
    expect(await restJson('/thing?type=third')).toEqual([200, { type: 'third' }]);
    expect((await restJson('/thing?type=first'))[0]).toBe(400);
    expect(await restJson('/thing?type=fourth')).toEqual(
      error400(/^type: must be one of "first", "another", "third"/),
    );
    expect(await trpc.thing.query({ type: 'third' })).toEqual({ type: 'third' });
    expect(
      document.paths['/thing']?.['get']?.parameters?.map(({ name, required = false }) => [name, required]),
    ).toEqual([
      ['type', true],
      ['myVar', false],
      ['anotherVar', false],
    ]);
  });

  it('a query may have nested objects, with the style deepObject by default (trpc-openapi #454)', async () => {
    const { document, restJson, trpc } = await startShape(deepObjects);
    expect(await restJson('/things?pagination[page]=2&filter%5Bname%5D=5')).toEqual([
      200,
      { pagination: { page: 2, limit: 10 }, filter: { name: '5' } },
    ]);
    expect(await restJson('/things?filter[range][min]=3&filter[other]=1&other[a]=1')).toEqual([
      200,
      { filter: { range: { min: 3 } } },
    ]);
    expect(await restJson('/things?filter[other]=1')).toEqual([200, {}]);
    expect(await restJson('/things?filter[__proto__][min]=1&filter[constructor]=2')).toEqual([200, {}]);
    expect(await restJson('/things?pagination[page]=two&pagination[limit]=101')).toEqual(
      error400('pagination.page: must be an integer, such as 42 or -7.'),
    );
    expect(await restJson('/things?pagination[limit]=101')).toEqual(
      error400('pagination.limit: must be at most 100.'),
    );
    expect(await restJson('/things?pagination[page]=1&pagination[page]=2')).toEqual(
      error400('pagination.page: must not be sent more than once.'),
    );
    expect(await restJson('/things?pagination=1')).toEqual(
      error400('pagination: is written as "pagination"; write each of its members as pagination[name].'),
    );
    expect(await restJson('/things?pagination[page=1')).toEqual(
      error400(/^pagination: is written as "pagination\[page"/),
    );
    expect(await restJson(`/things?filter${'[a]'.repeat(101)}=1`)).toEqual(
      error400(/nested deeper than 100 levels/),
    );
    expect(await trpc.list.query({ filter: { name: 'a' } })).toEqual({ filter: { name: 'a' } });
    expect(document.paths['/things']?.['get']?.parameters).toEqual([
      expect.objectContaining({ name: 'pagination', in: 'query', style: 'deepObject', explode: true }),
      expect.objectContaining({
        name: 'filter',
        style: 'deepObject',
        explode: true,
        description: 'Names continue in brackets, such as `filter[a][b]=…`; arrays repeat their name.',
      }),
    ]);
  });

  it('a query may have arrays that repeat their name, also within objects (trpc-openapi #391, hapi-openapi #208)', async () => {
    const { document, restJson, trpc } = await startShape(repeated);
    expect(await restJson('/questions?labels=a&labels=b,c')).toEqual([200, { labels: ['a', 'b,c'] }]);
    const website = [200, { filter: { website: ['a', 'b'] } }];
    expect(await restJson('/questions?filter%5Bwebsite%5D=a&filter%5Bwebsite%5D=b')).toEqual(website);
    expect(await restJson('/questions?filter[ids]=1&filter[ids]=x')).toEqual(
      error400('filter.ids.1: must be an integer, such as 42 or -7.'),
    );
    expect(await trpc.read.query({ labels: ['a'] })).toEqual({ labels: ['a'] });
    expect(document.paths['/questions']?.['get']?.parameters?.[0]).toEqual({
      name: 'labels',
      in: 'query',
      schema: { type: 'array', items: { type: 'string' } },
    });
  });

  it('a query may have records and filters that contain themselves (OpenAPI-Specification #1706)', async () => {
    const { restJson } = await startShape(selfReferences);
    expect(await restJson('/found?sort[name]=asc&sort[age]=desc')).toEqual([
      200,
      { sort: { name: 'asc', age: 'desc' } },
    ]);
    expect(await restJson('/found?sort[__proto__]=asc&sort[constructor]=asc')).toEqual([
      200,
      { sort: { constructor: 'asc' } },
    ]);
    expect(await restJson('/found?sort[name]=up')).toEqual(
      error400(/^sort.name: must be one of "asc", "desc"/),
    );
    expect(await restJson('/found?filter[not][is]=a&filter[not][not][is]=b')).toEqual([
      200,
      { filter: { not: { is: 'a', not: { is: 'b' } } } },
    ]);
  });

  it('the document has a tuple without `items: false`, and constants of several types as anyOf, for client generators', async () => {
    const { document, restJson } = await startShape(tuples);
    const body = { pair: ['a', 1], most: [1, 2], mixed: 1 };
    const put = (value: object) => restJson('/tuples', { ...post(value), method: 'PUT' });
    expect(await put(body)).toEqual([200, body]);
    expect((await put({ ...body, pair: ['a', 1, 2] }))[0]).toBe(400);
    const content = document.paths['/tuples']?.['put']?.requestBody?.content;
    const integer = { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 };
    expect(content?.[json]?.schema).toMatchObject({
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, integer], minItems: 2, maxItems: 2 },
        most: { type: 'array', prefixItems: [integer, integer], minItems: 1, maxItems: 2 },
        mixed: {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'number', enum: [1] },
          ],
        },
      },
    });
    expect(JSON.stringify(content)).not.toContain('"items":false');
  });

  it('the Link to the next page keeps query parameters, lists and objects', async () => {
    const { rest } = await startShape(pages);
    const first = await rest('/pages/a%2Fb/c?tags=a,b&tags=c&ids=1&ids=2&filter[name]=%26&other=1');
    const link = first.headers.get('link') ?? '';
    const next = /^<\/v1(.*)>; rel="next"$/.exec(link)?.[1] ?? '';
    const second = await rest(next);
    expect(await second.json()).toEqual({ ...((await first.json()) as object), after: 'x' });
    expect(next).toBe('/pages/a%2Fb/c?tags=a,b&tags=c&ids=1&ids=2&filter%5Bname%5D=%26&other=1&after=x');
  });
});

describe('the location of a property', () => {
  it('a property may travel in the query of a POST (trpc-openapi #324)', async () => {
    const { document, restJson, trpc } = await startShape(queryOfPost);
    expect(await restJson('/hooks?token=a&max-tries=3', post({ event: 'e', token: 'b', tries: 9 }))).toEqual([
      200,
      { token: 'a', tries: 3, event: 'e' },
    ]);
    expect(await restJson('/hooks', post({ event: 'e', token: 'b' }))).toEqual(
      error400('token (query): is required.'),
    );
    expect(await restJson('/hooks?max-tries=x&token=a', post({}))).toEqual(
      error400('tries (query max-tries): must be an integer, such as 42 or -7; event: is required.'),
    );
    // The last part of a path is no parameter.
    expect(await restJson('/hooks?token=a', post({ event: 'e', more: { token: 5 } }))).toEqual(
      error400('more.token: must be a string, not a number.'),
    );
    expect(await trpc.hook.mutate({ token: 'a', event: 'e' })).toEqual({ token: 'a', event: 'e' });
    const operation = document.paths['/hooks']?.['post'];
    expect(operation?.parameters?.map(({ in: where, name }) => [where, name])).toEqual([
      ['query', 'token'],
      ['query', 'max-tries'],
    ]);
    expect(operation?.requestBody?.content[json]?.schema?.properties).toMatchObject({
      event: { type: 'string' },
    });
    expect(operation?.requestBody?.content[json]?.schema?.properties).not.toHaveProperty('token');
  });

  it('a property may travel in headers, converted and checked like a query (trpc-openapi #113)', async () => {
    const page = 'https://page.example';
    const { document, rest, restJson, trpc } = await startShape(inHeaders, { cors: { origins: [page] } });
    const get = (headers: readonly [string, string][], query = 'name=n') =>
      restJson(`/things?${query}`, { headers: [...headers] as [string, string][] });
    expect(
      await get([
        ['x-tenant', '7'],
        ['X-FEATURES', 'a, b'],
        ['At', '2026-01-01T00:00:00Z'],
      ]),
    ).toEqual([200, { tenant: 7, features: ['a', 'b'], at: '2026-01-01T00:00:00.000Z', name: 'n' }]);
    expect(
      await get([
        ['X-Tenant', '7'],
        ['X-Features', ','],
      ]),
    ).toEqual([200, { tenant: 7, features: [], name: 'n' }]);
    expect(await get([['X-Tenant', '7.0']], '')).toEqual(
      error400('tenant (header X-Tenant): must be an integer, such as 42 or -7; name: is required.'),
    );
    expect(await get([['X-Tenant', '']])).toEqual(
      error400('tenant (header X-Tenant): must be an integer, such as 42 or -7.'),
    );
    expect(await get([['X-Tenant', '0']])).toEqual(error400('tenant (header X-Tenant): must be at least 1.'));
    expect(await get([], 'name=n&tenant=7')).toEqual(error400('tenant (header X-Tenant): is required.'));
    expect(
      await get([
        ['X-Tenant', '1'],
        ['X-Tenant', '2'],
      ]),
    ).toEqual(error400(/^tenant \(header X-Tenant\): /));
    expect(
      await get([
        ['X-Tenant', '1'],
        ['X-Features', 'a,c'],
      ]),
    ).toEqual(error400('features (header X-Features): must be one of "a", "b".'));
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
    expect(
      document.paths['/things']?.['get']?.parameters?.map(({ in: where, name, required = false }) => [
        where,
        name,
        required,
      ]),
    ).toEqual([
      ['query', 'name', true],
      ['header', 'X-Tenant', true],
      ['header', 'X-Features', false],
      ['header', 'at', false],
    ]);
  });

  it('a property may travel in cookies (honojs/middleware #141)', async () => {
    const { document, restJson, trpc } = await startShape(inCookies);
    const get = (cookie: string) => restJson('/look', { headers: { cookie } });
    expect(await get('a=b; theme=dark; __Host-size=5')).toEqual([200, { theme: 'dark', size: 5 }]);
    expect(await get('theme=d%61rk;__Host-size="5"')).toEqual(
      error400('size (cookie __Host-size): must be an integer, such as 42 or -7.'),
    );
    expect(await get('theme=dark; theme=light')).toEqual([200, { theme: 'dark' }]);
    expect(await get('theme=%ff')).toEqual(error400('theme (cookie): is not valid percent-encoded UTF-8.'));
    expect(await get('THEME=dark; __proto__=1')).toEqual([200, { theme: 'light' }]);
    expect(await restJson('/look?theme=dark')).toEqual([200, { theme: 'light' }]);
    expect(await trpc.look.query({ theme: 'dark' })).toEqual({ theme: 'dark' });
    expect(document.paths['/look']?.['get']?.parameters?.map(({ in: where, name }) => [where, name])).toEqual(
      [
        ['cookie', 'theme'],
        ['cookie', '__Host-size'],
      ],
    );
  });

  it('a property may travel in the body of a DELETE', async () => {
    const { document, restJson, trpc } = await startShape(bodyOfDelete);
    expect(await restJson('/things/1?force=true', { ...post({ reason: 'r' }), method: 'DELETE' })).toEqual([
      200,
      { id: 1, reason: 'r', force: true },
    ]);
    expect((await restJson('/things/1', { method: 'DELETE' }))[0]).toBe(415);
    expect(await trpc.drop.mutate({ id: 1, reason: 'r' })).toEqual({ id: 1, reason: 'r', force: false });
    expect(document.paths['/things/{id}']?.['delete']?.requestBody?.required).toBe(true);
  });

  it('a property may travel in the path under another name', async () => {
    const { document, restJson } = await startShape(renamedInPath);
    expect(await restJson('/pets/7')).toEqual([200, { id: 7 }]);
    expect(await restJson('/pets/x')).toEqual(
      error400('id (path petId): must be an integer, such as 42 or -7.'),
    );
    expect(document.paths['/pets/{petId}']?.['get']?.parameters?.map(({ name }) => name)).toEqual(['petId']);
  });

  it('a property may travel in the rest of the path (OpenAPI-Specification #892, Swashbuckle.AspNetCore #1100)', async () => {
    const { document, restJson, trpc } = await startShape(restOfPath);
    expect(await restJson('/files/a')).toEqual([200, { path: 'a' }]);
    expect(await restJson('/files/a/b%20c/d')).toEqual([200, { path: 'a/b c/d' }]);
    expect(await restJson('/files/a%2Fb/')).toEqual([200, { path: 'a/b/' }]);
    expect(await restJson('/files/info')).toEqual([200, {}]);
    expect(await restJson('/files/info/x')).toEqual([200, { path: 'info/x' }]);
    expect(await restJson('/files/a/%ff')).toEqual(error400('path: is not valid percent-encoded UTF-8.'));
    expect((await restJson('/files/'))[0]).toBe(404);
    expect((await restJson('/files'))[0]).toBe(404);
    expect(await restJson('/buckets/b')).toEqual([200, { bucket: 'b' }]);
    expect(await restJson('/buckets/b/x%2Fy/z')).toEqual([200, { bucket: 'b', key: ['x/y', 'z'] }]);
    expect(await restJson('/buckets/b/x/%ff')).toEqual(
      error400('key.1: is not valid percent-encoded UTF-8.'),
    );
    expect(await trpc.file.query({ path: 'a/b' })).toEqual({ path: 'a/b' });
    expect(document.paths['/files/{path}']?.['get']?.parameters).toEqual([
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

describe('the QUERY method (RFC 10008; fastify #6807, orpc #1841)', () => {
  const page = 'https://page.example';
  const query = (body: string, type: string | undefined = json): RequestInit => ({
    method: 'QUERY',
    body: new TextEncoder().encode(body),
    ...(type !== '' && { headers: { 'content-type': type } }),
  });

  it('QUERY carries the input of a query in its body, by each of its media types', async () => {
    const { restJson, trpc } = await startShape(queryMethod);
    expect(await restJson('/pets', query('{"ids":[1,2]}'))).toEqual([200, { ids: [1, 2] }]);
    expect(await restJson('/pets', query('ids=1&ids=2', contentTypes[1]))).toEqual([200, { ids: [1, 2] }]);
    expect(await restJson('/pets', query('{"ids":["1"]}'))).toEqual(
      error400('ids.0: must be a number, not a string.'),
    );
    expect(await restJson('/pets')).toEqual([200, {}]);
    expect(await trpc.find.query({ ids: [1] })).toEqual({ ids: [1] });
  });

  it('QUERY needs a Content-Type with a media type of the operation', async () => {
    const { rest, restJson } = await startShape(queryMethod);
    expect(await restJson('/pets', query('{}', ''))).toEqual(error400(/^QUERY requires a Content-Type/));
    expect(await restJson('/pets', { method: 'QUERY' })).toEqual(error400(/^QUERY requires a Content-Type/));
    expect(await restJson('/pets', query('', json))).toEqual(error400(/The body is empty/));
    const other = await rest('/pets', query('SELECT 1', 'application/sql'));
    expect([other.status, other.headers.get('accept-query')]).toEqual([415, contentTypes.join(', ')]);
  });

  it('Allow, Accept-Query and the CORS headers list QUERY', async () => {
    const { rest } = await startShape(queryMethod, { cors: { origins: [page] } });
    const accepted = contentTypes.join(', ');
    const options = await rest('/pets', { method: 'OPTIONS', headers: { origin: page } });
    expect(options.headers.get('allow')).toBe('QUERY, GET, HEAD, POST, OPTIONS');
    expect(options.headers.get('accept-query')).toBe(accepted);
    expect(options.headers.get('access-control-allow-methods')).toBe('QUERY, GET, HEAD, POST, OPTIONS');
    for (const method of ['GET', 'HEAD']) {
      const response = await rest('/pets', { method, headers: { origin: page } });
      expect(response.headers.get('accept-query')).toBe(accepted);
      expect(response.headers.get('access-control-expose-headers')).toMatch(/(^|, )Accept-Query(,|$)/);
    }
    const deleted = await rest('/pets', { method: 'DELETE' });
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'QUERY, GET, HEAD, POST, OPTIONS']);
    const nowhere = await rest('/nowhere', {
      method: 'OPTIONS',
      headers: { origin: page, 'access-control-request-method': 'QUERY' },
    });
    expect(nowhere.headers.get('access-control-allow-methods')).toBe('QUERY');
  });

  it('an OpenAPI 3.2 document describes QUERY as the operation query', async () => {
    const options = { document: { title: 'Shape', version: '1.0.0', openapi: '3.2' } } as const;
    const { document } = await startShape(queryMethod, options);
    expect(Object.keys(document.paths['/pets'] ?? {}).toSorted()).toEqual(['get', 'post', 'query']);
  });

  it('an OpenAPI 3.1 document describes QUERY as the extension x-query, because it has no such operation', async () => {
    const { document } = await startShape(queryMethod);
    const path = document.paths['/pets'] ?? {};
    expect(Object.keys(path).toSorted()).toEqual(['get', 'post', 'x-query']);
    expect(path['x-query']).toMatchObject({ operationId: 'find', requestBody: { required: true } });
    expect(path['get']?.responses['200']?.headers).toHaveProperty('Accept-Query');
    expect(path['post']?.responses['200']?.headers).not.toHaveProperty('Accept-Query');
  });
});

const items = t.router({
  read: echo(
    { method: 'GET', path: '/items/{id}' },
    z.object({ id: z.int(), n: z.int().optional(), lastEventId: z.string().optional() }),
  ),
});

const error = (status: number, code: string, message: string) => [status, { code, message, status }];
const badRequest = (message: string) => error(400, 'BAD_REQUEST', message);
const notFound = error(404, 'NOT_FOUND', 'There is no resource with this identifier.');
const tooLarge = badRequest('id: must be within ±(2^53−1); larger integers cannot be represented exactly.');

describe('ids in a path, and Last-Event-ID', () => {
  it.each([
    ['9007199254740991', [200, { id: 9_007_199_254_740_991 }]],
    // Integers of 64 bits, which another client may have as an id.
    ['9007199254740992', notFound],
    ['9223372036854775807', notFound],
    ['-9223372036854775808', notFound],
    ['9223372036854775808', tooLarge],
    ['-9223372036854775809', tooLarge],
    [
      '9223372036854775807?n=x',
      badRequest(
        'n: must be an integer, such as 42 or -7; id: must be within ±(2^53−1); larger integers cannot be represented exactly.',
      ),
    ],
  ])('GET /items/%s is answered with %j', async (path, expected) => {
    const { restJson } = await startShape(items);
    expect(await restJson(`/items/${path}`)).toEqual(expected);
  });

  it('Last-Event-ID is no part of the input of a query', async () => {
    const { restJson } = await startShape(items);
    const headers = { 'last-event-id': '5' };
    expect(await restJson('/items/1?lastEventId=a', { headers })).toEqual([200, { id: 1, lastEventId: 'a' }]);
  });
});

describe('createGateway', () => {
  const input = z.object({
    a: z.string(),
    list: z.array(z.string()).optional(),
    o: z.object({ b: z.int() }).optional(),
  });
  const get: RestMeta = { method: 'GET', path: '/x' };
  const post_: RestMeta = { method: 'POST', path: '/x' };

  it.each<[what: string, rest: RestMeta, sentence: RegExp, input?: z.ZodType]>([
    [
      'a location for a property that the input does not have',
      { ...get, in: { b: 'header' } },
      /declares in: \{ b: … \}, but its input has no property "b"/,
    ],
    [
      'a body of GET',
      { ...get, in: { a: 'body' } },
      /"a" is in the body, but GET has no body .*; use QUERY or POST/,
    ],
    [
      'a path that does not name the property',
      { ...get, in: { a: 'path' } },
      /declares "a" in the path, but its path has no \{a\}/,
    ],
    [
      'another location for a property of the path',
      { ...get, path: '/x/{a}', in: { a: 'query' } },
      /its path has the parameter \{a\}, but its input has no property "a" for it/,
    ],
    [
      'the credential as an input',
      { ...get, in: { a: { in: 'header', name: 'Authorization' } } },
      /"a" is in the header Authorization, which is not part of an input; read it in createContext/,
    ],
    [
      'a framing header as an input',
      { ...get, in: { a: { in: 'header', name: 'Content-Length' } } },
      /header Content-Length, which is not part/,
    ],
    [
      'a header with a space',
      { ...get, in: { a: { in: 'header', name: 'X Tenant' } } },
      /in the header "X Tenant", which is not a valid name \(RFC 9110 §5\.1\)/,
    ],
    [
      'a cookie with a semicolon',
      { ...get, in: { a: { in: 'cookie', name: 'a;b' } } },
      /in the cookie "a;b", which is not a valid name/,
    ],
    [
      'an array in a cookie',
      { ...get, in: { list: 'cookie' } },
      /"list" is an array, which is not supported in a cookie/,
    ],
    [
      'an object in a header',
      { ...get, in: { o: 'header' } },
      /"o" is an object or an array of objects, which text cannot represent/,
    ],
    [
      'two properties in one header',
      { ...get, in: { a: { in: 'header', name: 'X' }, list: { in: 'header', name: 'x' } } },
      /"a" and "list" are both in the header as "x"/,
    ],
    [
      'another name in the body',
      { ...post_, in: { a: { in: 'body', name: 'b' } } },
      /"a" has another name in the body/,
    ],
    [
      'an array of objects in an object in a query',
      get,
      /"q" has "a", which is an object or an array of objects, which text cannot represent/,
      z.object({ q: z.object({ a: z.array(z.object({ b: z.int() })) }) }),
    ],
    [
      'an array beside a path',
      { ...post_, path: '/x/{a}' },
      /its input has no property names for parameters/,
      z.array(z.string()),
    ],
    [
      'an unknown location',
      { ...get, in: { a: 'heder' as 'header' } },
      /openapi\.in is \{"a":"heder"\}; it must be an object of places \(path, query, header, cookie or body\)/,
    ],
    [
      'an array as a form',
      { ...post_, contentTypes: ['multipart/form-data'] },
      /its content type multipart\/form-data is not supported for its body; use application\/json/,
      z.array(z.string()),
    ],
    [
      'a merge patch of POST',
      { ...post_, contentTypes: ['application/merge-patch+json'] },
      /merge-patch\+json is not supported for its body/,
    ],
    [
      'QUERY without a body',
      { method: 'QUERY', path: '/x', in: { a: 'query', list: 'query', o: 'query' } },
      /its method is QUERY, but no property of its input is in the body; use GET/,
    ],
  ])('createGateway rejects %s', async (_what, rest, sentence, schema = input) => {
    const router = t.router({ a: echo(rest, schema) });
    const gateway = createGateway({
      router,
      createContext: () => ({}),
      document: { title: 'Test', version: '0' },
    });
    await expect(gateway).rejects.toThrow(sentence);
  });
});
