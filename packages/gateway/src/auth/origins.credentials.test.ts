import { expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createCredentialOrigins } from './origins.ts';

const allowsCredentials = createCredentialOrigins(['https://shop.example'], 'https://api.example');

const isAllowed = createCredentialOrigins((origin) => origin !== 'https://evil.example', undefined);

const request = (headers: Readonly<Record<string, string>>): HttpRequest =>
  ({ header: (name: string) => ({ host: 'api.internal', ...headers })[name] }) as HttpRequest;

it.each<[headers: Readonly<Record<string, string>>, expected: boolean]>([
  // Not a browser
  [{}, true],
  // Sec-Fetch-Site decides, not Origin
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'same-site', origin: 'https://evil.api.example' }, false],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://api.example' }, false],
  [{ 'sec-fetch-site': 'same-origin, cross-site' }, false],
  [{ 'sec-fetch-site': 'Same-Origin' }, false],
  [{ 'sec-fetch-site': 'other' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }, true],
  // Only Origin
  [{ origin: 'https://api.example' }, true],
  [{ origin: 'https://api.internal' }, true],
  [{ origin: 'https://shop.example' }, true],
  [{ origin: 'https://shop.example.evil' }, false],
  [{ origin: 'http://shop.example' }, false],
  [{ origin: 'https://evil.api.example' }, false],
  [{ origin: 'https://api.example:8443' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'null' }, false],
])('a request with %j may use a credential that browsers send automatically: %s', (headers, expected) => {
  expect(allowsCredentials(request(headers))).toBe(expected);
});

it('a cross-site request without Origin is rejected, even if origins is a function', () => {
  expect(isAllowed(request({ 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }))).toBe(true);
  expect(isAllowed(request({ 'sec-fetch-site': 'cross-site' }))).toBe(false);
});
