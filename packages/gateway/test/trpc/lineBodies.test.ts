import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { expect, it, onTestFinished } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { lines } from './bytes.ts';
import { serveGateway } from './gatewayServer.ts';

const t = initTRPC.create();
const slow = t.middleware(async ({ next }) => {
  await Promise.resolve();
  return next();
});
const router = t.router({
  sync: t.procedure.query(() => 1),
  async: t.procedure.use(slow).query(async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    return 2;
  }),
  timed: t.procedure.query(() => sleep(5, 3)),
});

it.each([
  ['sync,sync', true],
  ['async,async', true],
  ['sync,async', true],
  ['sync,timed', false],
])('the JSON lines of GET /trpc/%s have a Content-Length: %s', async (paths, hasLength) => {
  skipIfDifferent('the Content-Length of JSON Lines that are complete at once');
  const server = await serveGateway({ router, createContext: () => ({}) });
  onTestFinished(() => server.close());
  const response = await server.fetch(`${server.origin}/trpc/${paths}?batch=1`, { headers: lines });
  const text = await response.text();
  expect(response.headers.get('content-length')).toBe(hasLength ? String(text.length) : null);
  expect(text.split('\n')).toHaveLength(8);
});
