import { expect, it } from 'vitest';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { createSocketOrigins } from './origins.ts';

const allows = createSocketOrigins(['https://pets.example'], 'https://api.example');

it.each([
  ['from a program without Origin', {}],
  ['from a page of an origin that cors allows', { origin: 'https://pets.example', host: 'other.example' }],
  ['from a page of the public origin', { origin: 'https://api.example', host: '10.0.0.1:3000' }],
  ['from a page of the same host', { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }],
  ['from a page of the same host in another case', { origin: 'https://here.example', host: 'HERE.example' }],
])('a WebSocket %s is allowed', (_, headers) => {
  expect(allows(inProcessRequest('GET', '/trpc', headers))).toBe(true);
});

it.each([
  ['from a page of another site', { origin: 'https://evil.example', host: 'here.example' }],
  ['from a page of another port', { origin: 'http://127.0.0.1:3001', host: '127.0.0.1:3000' }],
  ['from a page with an opaque origin, such as a file', { origin: 'null', host: 'here.example' }],
  ['without Host', { origin: 'https://here.example' }],
  ['whose Origin has a user', { origin: 'https://x@here.example', host: 'here.example' }],
  ['whose Origin has a path', { origin: 'https://here.example/x', host: 'here.example' }],
])('a WebSocket %s is rejected', (_, headers) => {
  expect(allows(inProcessRequest('GET', '/trpc', headers))).toBe(false);
});

it('a WebSocket from a page is allowed by its host if no public origin is set', () => {
  const allowsHost = createSocketOrigins([], undefined);
  const headers = { origin: 'https://api.example', host: 'here.example' };
  expect(allowsHost(inProcessRequest('GET', '/trpc', headers))).toBe(false);
  expect(allowsHost(inProcessRequest('GET', '/trpc', { ...headers, host: 'api.example' }))).toBe(true);
});
