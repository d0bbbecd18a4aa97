import { expect, it } from 'vitest';
import { GatewayError } from '../http/gatewayError.ts';
import type { GatewayMeta } from './meta.ts';
import { readMeta } from './readMeta.ts';

const defaults = {
  rest: undefined,
  isPublic: false,
  scopes: undefined,
  deadlineMs: undefined,
  rateLimitCost: 1,
  idempotent: undefined,
  errors: undefined,
};
const openapi = { method: 'GET', path: '/a' } as const;

it.each<[meta: unknown, read: object]>([
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
  [{ scopes: [] }, {}],
  [{ scopes: ['a', 'b', 'a'] }, { scopes: ['a', 'b'] }],
  [{ idempotent: false }, {}],
  [{ idempotent: 'required' }, { idempotent: 'required' }],
])('readMeta reads %j as %j, with defaults', (meta, read) => {
  expect(readMeta('a', 'mutation', meta)).toEqual({ ...defaults, ...read });
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
  [{ openapi: true }, 'openapi takes an object of options, not true.'],
  [{ openapi: { rateLimitCost: 1 } }, 'rateLimitCost is in openapi, where it would apply only to REST.'],
  [{ openapi: { deadlineMs: 1 } }, 'deadlineMs is in openapi, where it would apply only to REST.'],
  [
    { openapi: { scopes: ['a'], enabled: false } },
    'scopes is in openapi, where it would apply only to REST.',
  ],
])('readMeta rejects %j', (meta, problem) => {
  expect(() => readMeta('a.b', 'query', meta)).toThrow(GatewayError);
  expect(() => readMeta('a.b', 'query', meta)).toThrow(`Procedure "a.b": ${problem}`);
});

it('readMeta lists every problem of a procedure', () => {
  const meta = { openapi: { method: 'get', path: '/a', tags: 'pets', upload: { maxByte: 1 } } };
  expect(() => readMeta('a', 'query', meta as unknown as GatewayMeta)).toThrow(
    new GatewayError(
      [
        'Procedure "a": openapi.method is "get"; it must be one of GET, POST, PUT, PATCH, DELETE, QUERY.',
        `Procedure "a": openapi.tags is "pets"; it must be an array of strings, such as tags: ['pets'].`,
        'Procedure "a": "maxByte" is not an option of openapi.upload; did you mean "maxBytes"?',
      ].join('\n'),
    ),
  );
});
