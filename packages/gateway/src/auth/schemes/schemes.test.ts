import { expect, it, vi } from 'vitest';
import { GatewayError } from '../../checks/gatewayError.ts';
import { apiKey } from './apiKey.ts';
import { bearer, bearerToken } from './bearer.ts';
import { challengeOf, requireChallenge } from './options.ts';
import { cookie, cookieValue } from './cookie.ts';
import { custom } from './custom.ts';
import { jwt } from './jwt.ts';
import type { HttpRequest } from '../../http/request.ts';

const verify = () => undefined;

it.each([
  ['a "quoted" realm', String.raw`Bearer realm="a \"quoted\" realm"`],
  [String.raw`a\b`, String.raw`Bearer realm="a\\b"`],
  ['', 'Bearer realm=""'],
])('a challenge escapes the realm %j as a quoted-string (RFC 9110 §5.6.4)', (realm, expected) => {
  expect(challengeOf('Bearer', { realm, error: undefined })).toBe(expected);
});

it.each(['a\r\nset-cookie: b=c', 'a\nb', 'a\0b', 'a\tb', 'é', '\u{1F600}'])(
  'every scheme rejects the realm %j when it is created',
  (realm) => {
    expect(() => challengeOf('Bearer', { realm })).toThrow(GatewayError);
    expect(() => apiKey({ verify, realm })).toThrow(/Use printable ASCII/);
    expect(() => cookie({ verify, realm, cookie: 'a' })).toThrow(/Use printable ASCII/);
    expect(() => bearer({ verify, realm })).toThrow(/Use printable ASCII/);
  },
);

it.each(['', ' Signature', 'Signature\r\nx: y'])('custom rejects the challenge %j', (challenge) => {
  const document = { type: 'http', scheme: 'signature' } as const;
  expect(() => custom({ name: 'a', read: verify, verify, challenge, document })).toThrow(GatewayError);
  expect(requireChallenge('Signature realm="a"')).toBe('Signature realm="a"');
});

it.each(['X API Key', 'X:Key', '', 'Schlüssel'])('apiKey rejects the header name %j', (header) => {
  expect(() => apiKey({ verify, header })).toThrow(GatewayError);
});

it.each(['a b', 'a=b', 'a;b', ''])('cookie rejects the cookie name %j', (name) => {
  expect(() => cookie({ verify, cookie: name })).toThrow(GatewayError);
});

const issued = { issuer: 'https://login.example', audience: 'a', jwksUri: 'https://login.example/jwks' };

it.each([
  [{ scope: 'pets:read audit' }, ['pets:read', 'audit']],
  [{ scope: ['pets:read'] }, []],
  [{}, []],
])('jwt without verify reads the scopes of the claims %j as %j', (claims, expected) => {
  expect(jwt(issued).scopes?.(claims)).toEqual(expected);
});

it.each<[authorization: string | undefined, token: string | null | undefined]>([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc  ', 'abc'],
  ['Bearer aZ09-._~+/', 'aZ09-._~+/'],
  ['Bearer abc==', 'abc=='],
  // Malformed (RFC 6750 §2.1)
  ['Bearer', null],
  ['Bearer ', null],
  ['Bearer a b', null],
  ['Bearer a=b', null],
  ['Bearer ä', null],
  ['Bearer =', null],
  ['Bearer a,b', null],
  // Of another scheme
  [undefined, undefined],
  ['', undefined],
  ['Basic YTpi', undefined],
  ['Bearers abc', undefined],
  ['a Bearer abc', undefined],
  ['Bearer\tabc', undefined],
])('bearer reads the credential of %j as %j', (authorization, token) => {
  expect(bearerToken({ header: () => authorization })).toBe(token);
});

it.each([
  [{}, 'token', 'A bearer token.'],
  [{ noun: 'API key' }, 'API key', 'The API key, as a bearer token.'],
])(
  'bearer with the options %o names its credential a %s, and "%s" in the document',
  (options, noun, description) => {
    const usage = `"Authorization: Bearer <${noun}>"`;
    expect(bearer({ verify, ...options })).toMatchObject({ noun, usage, document: { description } });
  },
);

it.each<[header: string, value: string | null | undefined]>([
  ['s=abc', 'abc'],
  ['a=b; s=abc; c=d', 'abc'],
  ['a=b;s=abc;c=d', 'abc'],
  [' s = abc ', 'abc'],
  ['s="abc"', 'abc'],
  ['s=a=b', 'a=b'],
  ['s=a%20b', 'a%20b'],
  ['ss=abc', undefined],
  ['xs=abc; s', undefined],
  ['S=abc', undefined],
  ['', undefined],
  ['s=', undefined],
  ['s=""', undefined],
  // One of them may come from a sibling subdomain
  ['s=abc; s=def', null],
  ['s=abc; s=abc', null],
  ['s=; s=abc', null],
  ['s="abc', null],
  ['s=a"b', null],
  ['s=a b', null],
  ['s=a,b', null],
  [String.raw`s=a\b`, null],
  ['s=\u00E9', null],
  // Browsers do not accept `__Host-` names from subdomains, but treat these as other names
  ['\u2000s=abc', undefined],
  ['\uFEFFs=abc', undefined],
  ['\u2000s=def; s=abc', 'abc'],
  ['\ts\t=\tabc\t', 'abc'],
  ['s=\u2000abc', null],
  ['x y=1; s=abc', 'abc'],
  ['=x; s=abc', 'abc'],
  ['s= "a" ', 'a'],
  ['s= ', undefined],
])('cookieValue reads the cookie s of %j as %j', (header, value) => {
  expect(cookieValue(header, 's')).toBe(value);
});

it.each<[key: string | undefined, expected: string | null | undefined]>([
  [undefined, undefined],
  ['psk_123+/=', 'psk_123+/='],
  ['a b', null],
  ['', null],
  ['a, b', null],
  ['a,b', null],
  ['é', null],
])('apiKey reads %j as %j', (key, expected) => {
  const scheme = apiKey({ verify: () => undefined, header: 'X-Key' });
  expect(scheme.read({ header: (name) => (name === 'x-key' ? key : undefined) }, {} as HttpRequest)).toBe(
    expected,
  );
});

it.each([
  ['before the =', (blanks: string) => `a=b;${blanks}x y=1`],
  ['around a name', (blanks: string) => `${blanks}s${blanks}x=1`],
  ['in the value', (blanks: string) => `s=a${blanks}b${blanks}c`],
  ['after the value', (blanks: string) => `s=a${blanks}`],
  ['around the value', (blanks: string) => `s=${blanks}a${blanks}`],
  ['before an invalid value', (blanks: string) => `s=${blanks}"`],
  ['instead of the value', (blanks: string) => `s=${blanks}`],
])(
  'cookieValue takes a time that is linear in the length of a header of spaces or tabs %s',
  (_where, headerOf) => {
    const cpuOf = (work: () => unknown) => {
      const before = process.cpuUsage();
      work();
      return process.cpuUsage(before).user;
    };
    for (const blank of [' ', '\t', ' \t']) {
      const header = headerOf(blank.repeat(65_536 / blank.length));
      // Some hundred times what it takes: a quadratic search takes thousands of times as long.
      const linear = () => Array.from({ length: 500 }, () => JSON.stringify(header).length);
      expect(cpuOf(() => cookieValue(header, 's'))).toBeLessThan(cpuOf(linear));
    }
  },
);

it('jwt rejects jose 5 and older, with the version that it needs', async () => {
  vi.doMock('jose', async (original) => ({ ...(await original<object>()), cryptoRuntime: 'node:crypto' }));
  vi.resetModules();
  const older = await import('./jwt.ts');
  vi.doUnmock('jose');
  vi.resetModules();
  const options = { issuer: 'https://login.example', audience: 'a', jwksUri: 'https://login.example/jwks' };
  expect(() => older.jwt(options)).toThrow('jwt() needs jose 6 or newer, found an older one.');
});
