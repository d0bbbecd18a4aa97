import { expect, it } from 'vitest';
import type { Scheme } from '../../calls/scheme.ts';
import { apiKey } from './apiKey.ts';
import { bearer } from './bearer.ts';
import { cookie } from './cookie.ts';
import { custom } from './custom.ts';
import { jwt } from './jwt.ts';

const verify = () => undefined;
const issued = { issuer: 'https://login.example', audience: 'a', jwksUri: 'https://login.example/jwks' };
const signature = { read: verify, verify, challenge: 'Signature realm="api"' };
const document = { type: 'http', scheme: 'other', description: 'Ours.' } as const;
const scopes = () => ['pets:read'];
const changed = { name: 'mine', scopes };

const schemes: readonly [name: string, byDefault: Scheme, changed: Scheme, isAmbient: boolean][] = [
  ['bearer', bearer({ verify }), bearer({ verify, ...changed }), false],
  ['apiKey', apiKey({ verify }), apiKey({ verify, ...changed }), false],
  ['cookie', cookie({ verify, cookie: 's' }), cookie({ verify, cookie: 's', ...changed }), true],
  ['jwt', jwt({ ...issued, verify }), jwt({ ...issued, verify, ...changed }), false],
  [
    'signature',
    custom({ ...signature, name: 'signature', document: { type: 'http', scheme: 'signature' } }),
    custom({ ...signature, ...changed, document }),
    true,
  ],
];

it.each(schemes)(
  '%s has its own name and no scopes by default, and those of its options',
  (name, byDefault, scheme, isAmbient) => {
    expect(byDefault).toMatchObject({ name, isAmbient });
    expect(byDefault).not.toHaveProperty('scopes');
    expect(scheme).toMatchObject({ name: 'mine', scopes, isAmbient });
  },
);

it.each<[name: string, scheme: Scheme, challenge: string]>([
  ['bearer', bearer({ verify, realm: 'pets' }), 'Bearer realm="pets"'],
  ['apiKey', apiKey({ verify, realm: 'pets', header: 'X-Key' }), 'ApiKey realm="pets", header="X-Key"'],
  ['cookie', cookie({ verify, realm: 'pets', cookie: 's' }), 'Cookie realm="pets", cookie-name="s"'],
  ['jwt', jwt({ ...issued, realm: 'pets' }), 'Bearer realm="pets"'],
])('%s has its option realm in the challenge', (_name, scheme, challenge) => {
  expect(scheme.challenge()).toBe(challenge);
});

it.each<[name: string, scheme: Scheme, header: string]>([
  ['bearer', bearer({ verify }), 'authorization'],
  ['jwt', jwt(issued), 'authorization'],
  ['apiKey', apiKey({ verify, header: 'X-Key' }), 'x-key'],
  ['cookie', cookie({ verify, cookie: 's' }), 'cookie'],
])('%s names the header that a request must not have twice', (_name, scheme, header) => {
  expect(scheme.header).toBe(header);
});

it('custom names itself in its usage', () => {
  const options = { ...signature, name: 'signature', document };
  expect(custom(options)).toMatchObject({ usage: 'the credential "signature"', noun: 'credential' });
});

it('the document of a scheme names the header of apiKey, the cookie of cookie and the format of jwt', () => {
  expect(apiKey({ verify, header: 'X-Key' }).document).toMatchObject({ in: 'header', name: 'X-Key' });
  expect(cookie({ verify, cookie: 's', name: 'mine' }).document).toMatchObject({ in: 'cookie', name: 's' });
  expect(jwt(issued).document).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
});

it.each([
  [{ scope: 'pets:read audit' }, ['pets:read', 'audit']],
  [{ scope: ['pets:read'] }, []],
  [{}, []],
])('jwt without verify reads the scopes of the claims %j as %j', (claims, expected) => {
  expect(jwt(issued).scopes?.(claims)).toEqual(expected);
});
