import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { handleUpgrades, nodeHandler } from './index.ts';

it('nodeHandler and handleUpgrades reject a prefix without a leading slash', () => {
  const service = { handle: () => ({ status: 200, headers: [] }) };
  const message = 'The option prefix is "api"; it must begin with a slash, such as "/api".';
  expect(() => nodeHandler(service, { prefix: 'api' })).toThrow(message);
  expect(() => handleUpgrades(createServer(), service, { prefix: 'api' })).toThrow(message);
});
