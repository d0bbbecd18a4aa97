import { expect, it } from 'vitest';
import { bearerCredential, challenge } from './bearer.ts';

it.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc  ', 'abc'],
  ['Bearer aZ09-._~+/', 'aZ09-._~+/'],
  ['Bearer abc==', 'abc=='],
])('bearerCredential reads the token of "%s"', (authorization, token) => {
  expect(bearerCredential(authorization)).toEqual({ token });
});

it.each(['Bearer', 'Bearer ', 'bearer   ', 'Bearer a b', 'Bearer a=b', 'Bearer ä', 'Bearer =', 'Bearer a,b'])(
  'bearerCredential finds "%s" malformed: RFC 6750 §2.1 knows no such token',
  (authorization) => {
    expect(bearerCredential(authorization)).toBe('malformed');
  },
);

it.each([undefined, '', 'Basic YTpi', 'Bearers abc', 'a Bearer abc', 'Bearer\tabc'])(
  'bearerCredential finds no bearer credential in "%s"',
  (authorization) => {
    expect(bearerCredential(authorization)).toBe('missing');
  },
);

it('a challenge names the realm, and an invalid token where one was sent', () => {
  expect(challenge('petstore', true)).toBe('Bearer realm="petstore"');
  expect(challenge('petstore', false)).toBe('Bearer realm="petstore", error="invalid_token"');
});
