import { expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../http/gatewayError.ts';
import type { DescribedProcedure, GatewayMeta, RestMeta } from './meta.ts';
import { readMeta, type RestOption } from './readMeta.ts';

const defaults = {
  rest: undefined,
  isPublic: false,
  scopes: undefined,
  deadlineMs: undefined,
  rateLimitCost: 1,
  idempotent: undefined,
};
const openapi = { method: 'GET', path: '/a' } as const;

const read = (type: DescribedProcedure['type'], meta: unknown, option?: RestOption) =>
  readMeta({ path: 'a.b', type, meta: meta as GatewayMeta }, option);

it.each<[meta: unknown, expected: object]>([
  [undefined, {}],
  [null, {}],
  ['of another library', {}],
  [{}, {}],
  [{ openapi: null }, {}],
  [{ openapi }, { rest: openapi }],
  [{ openapi: { ...openapi, enabled: false } }, {}],
  [{ ours: 1 }, {}],
  [{ protect: true }, {}],
  [{ protect: false }, { isPublic: true }],
  [{ openapi: { ...openapi, protect: false } }, { rest: { ...openapi, protect: false }, isPublic: true }],
  [
    { protect: false, openapi: { ...openapi, protect: false } },
    { rest: { ...openapi, protect: false }, isPublic: true },
  ],
  [{ openapi: { ...openapi, protect: false, enabled: false } }, {}],
  [{ protect: false, openapi: { ...openapi, enabled: false } }, { isPublic: true }],
  [
    { deadlineMs: 0.5, rateLimitCost: 0 },
    { deadlineMs: 0.5, rateLimitCost: 0 },
  ],
  [
    { deadlineMs: Infinity, rateLimitCost: 5 },
    { deadlineMs: Infinity, rateLimitCost: 5 },
  ],
  [{ openapi: true }, { rest: {} }],
  [{ openapi: false }, {}],
  [{ openapi: { path: '/a' } }, { rest: { path: '/a' } }],
  [{ scopes: [] }, {}],
  [{ scopes: ['a', 'b', 'a'] }, { scopes: ['a', 'b'] }],
  [{ idempotent: false }, {}],
  [{ idempotent: 'required' }, { idempotent: 'required' }],
])('readMeta reads %j as %j, with defaults', (meta, expected) => {
  expect(read('mutation', meta)).toEqual({ ...defaults, ...expected });
});

it.each<[meta: unknown, problem: string]>([
  [{ deadlineMs: 0 }, 'deadlineMs is 0; it must be a positive number of milliseconds, or Infinity'],
  [{ deadlineMs: NaN }, 'deadlineMs is NaN; it must be'],
  [{ deadlineMs: '5' }, 'deadlineMs is "5"; it must be'],
  [{ rateLimitCost: -1 }, 'rateLimitCost is -1; it must be an integer of 0 or more'],
  [{ rateLimitCost: 1.5 }, 'rateLimitCost is 1.5; it must be'],
  [{ rateLimitCost: Infinity }, 'rateLimitCost is Infinity; it must be'],
  [{ rateLimitCost: '1' }, 'rateLimitCost is "1"; it must be'],
  [{ protect: 'no' }, 'protect is "no"; it must be true or false'],
  [
    { protect: true, openapi: { ...openapi, protect: false } },
    'protect is true, but openapi.protect is false. Remove openapi.protect: protect is for every protocol.',
  ],
  [
    { protect: false, scopes: ['a'] },
    'scopes are required, but protect: false serves it without a credential. Remove one of them.',
  ],
  [{ openapi: { method: null } }, 'openapi.method is null; it must be one of GET,'],
  [{ openapi: { path: 1 } }, "openapi.path is 1; it must be a path, such as path: '/pets/{id}'"],
  [{ openapi: 1 }, 'openapi takes an object of options, not 1.'],
  [{ openapi: { rateLimitCost: 1 } }, 'rateLimitCost is in openapi, where it would apply only to REST.'],
  [{ openapi: { deadlineMs: 1 } }, 'deadlineMs is in openapi, where it would apply only to REST.'],
  [
    { openapi: { scopes: ['a'], enabled: false } },
    'scopes is in openapi, where it would apply only to REST.',
  ],
])('readMeta rejects %j', (meta, problem) => {
  expect(() => read('query', meta)).toThrow(GatewayError);
  expect(() => read('query', meta)).toThrow(`Procedure "a.b": ${problem}`);
});

it.each<[option: RestOption, type: DescribedProcedure['type'], meta: unknown, rest: object | undefined]>([
  [true, 'query', undefined, {}],
  [true, 'mutation', { ours: 1 }, {}],
  [true, 'mutation', { openapi: null }, {}],
  [true, 'query', { openapi: false }, undefined],
  [true, 'query', { openapi }, openapi],
  [true, 'query', { openapi: { ...openapi, enabled: false } }, undefined],
  [true, 'subscription', undefined, undefined],
  [true, 'subscription', { openapi: true }, {}],
  [false, 'query', undefined, undefined],
  [false, 'query', { openapi: true }, {}],
  [({ path, type }) => path === 'a.b' && type === 'query', 'query', undefined, {}],
  [({ path, type }) => path === 'a.b' && type === 'query', 'mutation', undefined, undefined],
  [() => true, 'subscription', undefined, undefined],
  [() => openapi, 'query', undefined, openapi],
  [() => ({ enabled: false }), 'query', undefined, undefined],
  [() => ({ event: z.number() }), 'subscription', undefined, { event: expect.anything() }],
  [({ meta }) => (meta as { rest?: RestMeta }).rest ?? false, 'query', { rest: openapi }, openapi],
  [() => undefined as unknown as boolean, 'query', undefined, undefined],
])('with the option openapi %s, a %s with the metadata %j is served by %j', (option, type, meta, rest) => {
  expect(read(type, meta, option).rest).toEqual(rest);
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

it('readMeta lists every problem of a procedure', () => {
  const meta = { openapi: { method: 'get', path: '/a', tags: 'pets', upload: { maxByte: 1 } } };
  expect(() => read('query', meta)).toThrow(
    new GatewayError(
      [
        'Procedure "a.b": openapi.method is "get"; it must be one of GET, POST, PUT, PATCH, DELETE, QUERY.',
        `Procedure "a.b": openapi.tags is "pets"; it must be an array of strings, such as tags: ['pets'].`,
        'Procedure "a.b": "maxByte" is not an option of openapi.upload; did you mean "maxBytes"?',
      ].join('\n'),
    ),
  );
});
