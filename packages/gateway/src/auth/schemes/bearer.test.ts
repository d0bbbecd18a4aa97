import { expect, it } from 'vitest';
import { bearer, bearerChallenge, bearerToken } from './bearer.ts';

const read = (authorization: string | undefined) => bearerToken({ header: () => authorization });

it.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc  ', 'abc'],
  ['Bearer aZ09-._~+/', 'aZ09-._~+/'],
  ['Bearer abc==', 'abc=='],
])('bearer reads the token of "%s"', (authorization, token) => {
  expect(read(authorization)).toBe(token);
});

it.each(['Bearer', 'Bearer ', 'bearer   ', 'Bearer a b', 'Bearer a=b', 'Bearer ä', 'Bearer =', 'Bearer a,b'])(
  'bearer reads "%s" as malformed (RFC 6750 §2.1)',
  (authorization) => {
    expect(read(authorization)).toBeNull();
  },
);

it.each([undefined, '', 'Basic YTpi', 'Bearers abc', 'a Bearer abc', 'Bearer\tabc'])(
  'bearer reads no credential from "%s"',
  (authorization) => {
    expect(read(authorization)).toBeUndefined();
  },
);

it('bearer uses its noun in messages and in the document, by default "token"', () => {
  const verify = () => undefined;
  expect(bearer({ verify })).toMatchObject({
    noun: 'token',
    usage: '"Authorization: Bearer <token>"',
    document: { description: 'A bearer token.' },
  });
  expect(bearer({ verify, noun: 'API key' })).toMatchObject({
    noun: 'API key',
    usage: '"Authorization: Bearer <API key>"',
    document: { description: 'The API key, as a bearer token.' },
  });
});

it('a bearer challenge has the realm, and an error code if a token was sent (RFC 6750 §3)', () => {
  const challenge = bearerChallenge('petstore');
  expect(challenge()).toBe('Bearer realm="petstore"');
  expect(challenge({ error: 'invalid_token' })).toBe('Bearer realm="petstore", error="invalid_token"');
  expect(challenge({ error: 'insufficient_scope', scope: 'pets:read pets:write' })).toBe(
    'Bearer realm="petstore", error="insufficient_scope", scope="pets:read pets:write"',
  );
});

it('a bearer challenge has the URL of the resource metadata (RFC 9728 §5.1)', () => {
  expect(bearerChallenge('petstore', 'https://pets.example/.well-known/oauth-protected-resource')()).toBe(
    'Bearer realm="petstore", resource_metadata="https://pets.example/.well-known/oauth-protected-resource"',
  );
});
