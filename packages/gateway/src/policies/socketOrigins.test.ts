import { expect, it } from 'vitest';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { createSocketOrigins } from './socketOrigins.ts';

const allows = createSocketOrigins(['https://pets.example'], 'https://api.example');

it.each([
  ['of a program, which sends no Origin', {}],
  ['of a page that cors names', { origin: 'https://pets.example', host: 'other.example' }],
  ['of a page of the public origin', { origin: 'https://api.example', host: '10.0.0.1:3000' }],
  ['of a page of the same host', { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }],
  ['of a page of the same host in another case', { origin: 'https://here.example', host: 'HERE.example' }],
])('a WebSocket %s is allowed', (_, headers) => {
  expect(allows(inProcessRequest('GET', '/trpc', headers))).toBe(true);
});

it.each([
  ['of a page of another site', { origin: 'https://evil.example', host: 'here.example' }],
  ['of a page of another port', { origin: 'http://127.0.0.1:3001', host: '127.0.0.1:3000' }],
  ['of a page without an origin, as of a file', { origin: 'null', host: 'here.example' }],
  ['without a Host', { origin: 'https://here.example' }],
])('a WebSocket %s is rejected', (_, headers) => {
  expect(allows(inProcessRequest('GET', '/trpc', headers))).toBe(false);
});

it('without a public origin only the pages that cors names and those of the host are allowed', () => {
  const allowsHost = createSocketOrigins([], undefined);
  const headers = { origin: 'https://api.example', host: 'here.example' };
  expect(allowsHost(inProcessRequest('GET', '/trpc', headers))).toBe(false);
  expect(allowsHost(inProcessRequest('GET', '/trpc', { ...headers, host: 'api.example' }))).toBe(true);
});
