import { expect, it } from 'vitest';
import { GatewayError } from '../../http/gatewayError.ts';
import { apiKey } from './apiKey.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { challengeOf, requireChallenge } from './options.ts';
import { cookie } from './cookie.ts';
import { custom } from './custom.ts';

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
    expect(() => basic({ verify, realm })).toThrow(/Use printable ASCII/);
    expect(() => bearer({ verify, realm })).toThrow(/Use printable ASCII/);
  },
);

it.each(['', ' Signature', 'Signature\r\nx: y'])('custom rejects the challenge %j', (challenge) => {
  const document = { type: 'http', scheme: 'signature' } as const;
  expect(() => custom({ name: 'a', read: verify, verify, challenge, document })).toThrow(GatewayError);
  expect(requireChallenge('Signature realm="a"')).toBe('Signature realm="a"');
});

it.each([
  [apiKey({ verify }), 'ApiKey realm="api", header="X-API-Key"'],
  [cookie({ verify, cookie: '__Host-s' }), 'Cookie realm="api", cookie-name="__Host-s"'],
  [basic({ verify }), 'Basic realm="api", charset="UTF-8"'],
  [
    custom({ name: 'a', read: verify, verify, challenge: 'A b="c"', document: { type: 'mutualTLS' } }),
    'A b="c"',
  ],
])(
  '$name has a challenge with the realm for missing and invalid credentials, and none for a missing scope',
  (scheme, expected) => {
    expect(scheme.challenge()).toBe(expected);
    expect(scheme.challenge({ error: 'invalid_token' })).toBe(expected);
    expect(scheme.challenge({ error: 'insufficient_scope', scope: 'a' })).toBeUndefined();
  },
);

it.each(['X API Key', 'X:Key', '', 'Schlüssel'])('apiKey rejects the header name %j', (header) => {
  expect(() => apiKey({ verify, header })).toThrow(GatewayError);
});

it.each(['a b', 'a=b', 'a;b', ''])('cookie rejects the cookie name %j', (name) => {
  expect(() => cookie({ verify, cookie: name })).toThrow(GatewayError);
});
