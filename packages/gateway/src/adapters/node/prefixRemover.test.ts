import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { handleUpgrades, nodeHandler } from './index.ts';
import { prefixRemover } from './nodeHandler.ts';

it('nodeHandler and handleUpgrades reject a prefix without a leading slash', () => {
  const service = { handle: () => ({ status: 200, headers: [] }) };
  const message = 'The option prefix is "api"; it must begin with a slash, such as "/api".';
  expect(() => nodeHandler(service, { prefix: 'api' })).toThrow(message);
  expect(() => handleUpgrades(createServer(), service, { prefix: 'api' })).toThrow(message);
});

it.each<[prefix: string | undefined, target: string, rest: string | undefined]>([
  ['/api', '/api', '/'],
  ['/api', '/api/', '/'],
  ['/api', '/api?a=/b', '/?a=/b'],
  ['/api', '/api/a?b', '/a?b'],
  ['/api', '/ap', undefined],
  ['/api', '/apis', undefined],
  ['/api', '/a/api', undefined],
  ['/api//', '/api/a', '/a'],
  ['/', '/api', '/api'],
  ['', '/api', '/api'],
  [undefined, '/api', '/api'],
])('without the prefix %j, the target %s is %j', (prefix, target, rest) => {
  expect(prefixRemover(prefix)(target)).toBe(rest);
});
