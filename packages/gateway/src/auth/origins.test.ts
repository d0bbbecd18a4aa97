import { expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { originMatcher, requireOrigins, createCredentialOrigins, createSocketOrigins } from './origins.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';

const request = {} as HttpRequest;

it.each<[origins: readonly string[], origin: string, isAllowed: boolean]>([
  [[], 'https://a.example', false],
  [['https://a.example'], 'https://a.example', true],
  [['https://a.example'], 'https://A.example', false],
  [['https://a.example'], 'https://a.example:444', false],
  [['https://a.example', 'https://b.example'], 'https://b.example', true],
])('origins: %j allows %s: %s', (origins, origin, isAllowed) => {
  expect(originMatcher(origins)(origin, request)).toBe(isAllowed);
});

it.each([
  [true, true],
  [false, false],
  [undefined, false],
  ['https://a.example', false],
])('an origins function that returns %s allows the origin: %s', (returned, isAllowed) => {
  expect(originMatcher(() => returned as boolean)('https://a.example', request)).toBe(isAllowed);
});

it.each([
  'a.example',
  'https://a.example/',
  'https://a.example:443',
  'https://A.example',
  'https://a.example/path',
  'null',
  '',
  '*',
  'https://*',
  'https://*.b',
  'https://*.b.example/',
  'https://*.b.example:443',
  '*.b.example',
  'https://*.*.b.example',
])('requireOrigins rejects %j, which is not an origin', (origin) => {
  expect(() => requireOrigins('cors.origins', ['https://b.example', origin])).toThrow(
    `cors.origins contains "${origin}", which is not an origin. Write only scheme, host and port, such as https://pets.example. For patterns, use a function.`,
  );
});

const allowsCredentials = createCredentialOrigins(['https://shop.example'], 'https://api.example');

const allowsUnlessEvil = createCredentialOrigins((origin) => origin !== 'https://evil.example', undefined);

const requestWith = (headers: Readonly<Record<string, string>>): HttpRequest =>
  ({ header: (name: string) => ({ host: 'api.internal', ...headers })[name] }) as HttpRequest;

it.each<[headers: Readonly<Record<string, string>>, expected: boolean]>([
  // Sec-Fetch-Site decides, not Origin
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
  [{ 'sec-fetch-site': 'same-site', origin: 'https://evil.api.example' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://api.example' }, false],
  [{ 'sec-fetch-site': 'same-origin, cross-site' }, false],
  [{ 'sec-fetch-site': 'Same-Origin' }, false],
  [{ 'sec-fetch-site': 'other' }, false],
  // Only Origin
  [{ origin: 'https://api.example' }, true],
  [{ origin: 'https://shop.example' }, true],
  [{ origin: 'https://shop.example.evil' }, false],
  [{ origin: 'http://shop.example' }, false],
  [{ origin: 'https://evil.api.example' }, false],
  [{ origin: 'https://api.example:8443' }, false],
  // Requests of real pages: packages/gateway/test/credentials/forgedRequests.test.ts.
])('a request with %j may use a credential that browsers send automatically: %s', (headers, expected) => {
  expect(allowsCredentials(requestWith(headers))).toBe(expected);
});

it('a cross-site request without Origin is rejected, even if origins is a function', () => {
  expect(
    allowsUnlessEvil(requestWith({ 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' })),
  ).toBe(true);
  expect(allowsUnlessEvil(requestWith({ 'sec-fetch-site': 'cross-site' }))).toBe(false);
});

const allowsSocket = createSocketOrigins(['https://pets.example'], 'https://api.example');

it.each<[what: string, isAllowed: boolean, headers: Record<string, string>]>([
  ['of the public origin', true, { origin: 'https://api.example', host: '10.0.0.1:3000' }],
  ['of the same host in another case', true, { origin: 'https://here.example', host: 'HERE.example' }],
  ['of another port', false, { origin: 'http://127.0.0.1:3001', host: '127.0.0.1:3000' }],
  ['with an opaque origin, such as a file', false, { origin: 'null', host: 'here.example' }],
  ['without Host', false, { origin: 'https://here.example' }],
  ['whose Origin has a user', false, { origin: 'https://x@here.example', host: 'here.example' }],
  ['whose Origin has a path', false, { origin: 'https://here.example/x', host: 'here.example' }],
])('a WebSocket of a page %s is allowed: %s', (_, isAllowed, headers) => {
  expect(allowsSocket(inProcessRequest('GET', '/trpc', headers))).toBe(isAllowed);
});
