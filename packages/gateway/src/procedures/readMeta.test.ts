import { expect, it } from 'vitest';
import { GatewayError } from '../checks/gatewayError.ts';
import type { DescribedProcedure, GatewayMeta } from './meta.ts';
import { readMeta, type RestOption } from './readMeta.ts';

const openapi = { method: 'GET', path: '/a' } as const;

const defaults = {
  rest: undefined,
  isPublic: false,
  scopes: undefined,
  callTimeoutMs: undefined,
  rateLimitCost: 1,
  idempotencyKey: undefined,
  isReplayed: false,
};

const read = (type: DescribedProcedure['type'], meta: unknown, option?: RestOption) =>
  readMeta({ path: 'a.b', type, meta: meta as GatewayMeta }, { openapi: option });

it.each<[meta: unknown, expected: object]>([
  ['of another library', {}],
  [{ openapi: null }, {}],
  [{ openapi: true }, { rest: {} }],
  [{ openapi: { ...openapi, enabled: false } }, {}],
  [{ openapi: { ...openapi, protect: false } }, { rest: { ...openapi, protect: false }, isPublic: true }],
  [{ openapi: { ...openapi, protect: false, enabled: false } }, {}],
  [{ protect: false, openapi: { ...openapi, enabled: false } }, { isPublic: true }],
  [{ callTimeoutMs: Infinity }, { callTimeoutMs: Infinity }],
  [{ rateLimitCost: 0 }, { rateLimitCost: 0 }],
  [{ scopes: [] }, {}],
  [{ scopes: ['a', 'b', 'a'] }, { scopes: ['a', 'b'] }],
  [{ idempotencyKey: 'handled' }, { idempotencyKey: 'handled' }],
  [{ idempotencyKey: 'required' }, { idempotencyKey: 'required', isReplayed: true }],
])('readMeta reads %j as %j, with defaults', (meta, expected) => {
  expect(read('mutation', meta)).toEqual({ ...defaults, ...expected });
});

it.each<[meta: unknown, problem: string]>([
  [{ callTimeoutMs: 0 }, 'callTimeoutMs is 0; it must be a positive number of milliseconds, or Infinity'],
  [{ callTimeoutMs: '5' }, 'callTimeoutMs is "5"; it must be'],
  [{ rateLimitCost: '1' }, 'rateLimitCost is "1"; it must be'],
  [{ rateLimitCost: -1 }, 'rateLimitCost is -1; it must be an integer of 0 or more'],
  [{ rateLimitCost: 1.5 }, 'rateLimitCost is 1.5; it must be'],
  [{ rateLimitCost: Infinity }, 'rateLimitCost is Infinity; it must be'],
  [{ protect: 'no' }, 'protect is "no"; it must be true or false'],
  [
    { openapi: { ...openapi, deprecated: false, deprecation: { since: new Date(0) } } },
    'openapi.deprecated is false, but openapi.deprecation is set. Remove one of them.',
  ],
  [
    { protect: true, openapi: { ...openapi, protect: false } },
    'protect is true, but openapi.protect is false. Remove openapi.protect: protect is for every protocol.',
  ],
  [
    { protect: false, scopes: ['a'] },
    'scopes are required, but protect: false serves it without a credential. Remove one of them.',
  ],
  [{ idempotencyKey: true }, "idempotencyKey is true; it must be 'optional', 'required' or 'handled'."],
  [{ idempotencyKey: 'optional' }, 'idempotencyKey is for mutations, but this is a query'],
  ...['a b', 'a"b', String.raw`a\b`, 'a\r\nx: y', '', 'é', 1].map((scope): [unknown, string] => [
    { scopes: [scope] },
    `scopes is ${JSON.stringify([scope])}; it must be an array of scopes in printable ASCII without spaces`,
  ]),
  [{ openapi: { method: null } }, 'openapi.method is null; it must be one of GET,'],
  [{ openapi: { path: 1 } }, "openapi.path is 1; it must be a path, such as path: '/pets/{id}'"],
  [
    { openapi: { contentTypes: 'text/csv' } },
    'openapi.contentTypes is "text/csv"; it must be a list of media',
  ],
  [{ openapi: { successStatus: 404 } }, 'openapi.successStatus is 404; it must be a status from 200 to 399'],
  [
    { openapi: { errorResponses: { 200: 'a' } } },
    'openapi.errorResponses is {"200":"a"}; it must be an object',
  ],
  [{ openapi: { headers: { a: '/a' } } }, 'openapi.headers is {"a":"/a"}; it must be an object of headers'],
  [
    { openapi: { responseHeaders: { a: {} } } },
    'openapi.responseHeaders is {"a":{}}; it must be a zod object',
  ],
  [{ openapi: { pagination: 'after' } }, 'openapi.pagination is "after"; it must be an object, such as'],
  [{ openapi: { deprecation: { since: 'May' } } }, 'openapi.deprecation.since is "May"; it must be a Date'],
  [
    { openapi: { contentTypes: [] } },
    'openapi.contentTypes is []; it must be a list of media types, such as',
  ],
  [{ openapi: { in: { a: 'heder' } } }, 'openapi.in is {"a":"heder"}; it must be an object of places'],
  [{ openapi: { in: ['header'] } }, 'openapi.in is ["header"]; it must be an object of places (path, query,'],
  [{ openapi: 1 }, 'openapi takes an object of options, not 1.'],
  [
    { openapi: { method: 'get', tags: 'pets', upload: { maxSiz: 1 } } },
    `openapi.method is "get"; it must be one of GET, POST, PUT, PATCH, DELETE.
Procedure "a.b": openapi.tags is "pets"; it must be an array of strings, such as tags: ['pets'].
Procedure "a.b": "maxSiz" is not an option of openapi.upload; did you mean "maxSize"?`,
  ],
  [{ openapi: { rateLimitCost: 1 } }, 'rateLimitCost is in openapi, where it would apply only to REST.'],
  [{ openapi: { callTimeoutMs: 1 } }, 'callTimeoutMs is in openapi, where it would apply only to REST.'],
  [
    { openapi: { scopes: ['a'], enabled: false } },
    'scopes is in openapi, where it would apply only to REST.',
  ],
])('readMeta rejects %j', (meta, problem) => {
  expect(() => read('query', meta)).toThrow(GatewayError);
  expect(() => read('query', meta)).toThrow(`Procedure "a.b": ${problem}`);
});

it('readMeta does not call the option openapi for a procedure with openapi in its metadata', () => {
  const option = () => expect.fail('called');
  expect(read('query', { openapi }, option).rest).toEqual(openapi);
  expect(read('query', { openapi: false }, option).rest).toBeUndefined();
});

it.each<[returned: unknown, found: string]>([
  ['/a', '"/a"'],
  [1, '1'],
  [null, 'null'],
  [Promise.resolve(true), 'a promise'],
])('readMeta rejects %j from the option openapi', (returned, found) => {
  expect(() => read('query', undefined, () => returned as boolean)).toThrow(
    new GatewayError(
      `openapi of createGateway returned ${found} for procedure "a.b"; it must return true, false or metadata, such as { path: '/pets' }.`,
    ),
  );
});

it('readMeta checks the metadata that the option openapi returns', () => {
  expect(() => read('query', undefined, () => ({ path: 1 }) as never)).toThrow(
    `Procedure "a.b": openapi.path is 1; it must be a path, such as path: '/pets/{id}'.`,
  );
});
