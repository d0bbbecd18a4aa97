import { collectGarbage } from '@petstore/testing/collectGarbage';
import { longForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { call, send } from '@petstore/testing/mcpMessages';
import { createToolGateway } from './toolRouter.ts';

/** Calls in each way; returns the bytes that the heap grew from a tenth of the calls to the last one. */
async function heapGrowth(calls: number): Promise<number> {
  const { gateway, records, seen } = await createToolGateway({
    idempotency: { ttlMs: 1, caller: () => undefined },
  });
  const server = { fetch: gateway.fetch, origin: 'http://localhost' };
  const kinds: readonly ((id: number) => Promise<unknown>)[] = [
    (id) => call(server, 'books_add', { id, title: 'A' }, { id }),
    (id) => call(server, 'books_add', { id, title: 'A' }, { id, revision: '2025-11-25' }),
    (id) => call(server, 'orders_order', { quantity: 3 }, { id }),
    (id) => call(server, 'fail', {}, { id }),
    (id) => call(server, 'slow', { ms: 0 }, { id }),
    (id) => call(server, 'steps', { count: 2 }, { id, meta: { progressToken: id } }),
    (id) => call(server, 'test_multiple_content_types', {}, { id }),
    (id) => send(server, 'tools/list', {}, { id }),
    (id) => call(server, `no${id}`, {}, { id }),
    (id) =>
      call(server, 'slow', { ms: 1000 }, { id, init: { signal: AbortSignal.timeout(1) } }).catch(() => {}),
  ];
  const heap = () => {
    records.length = 0;
    seen.aborted.length = 0;
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  let before = 0;
  for (let sent = 0; sent < calls; sent += kinds.length) {
    if (sent === calls / 10) before = heap();
    await Promise.all(kinds.map((each, index) => each(sent + index)));
    if (sent % 10_000 === 0) records.length = 0;
  }
  const growth = heap() - before;
  if (gateway.callsInFlight() !== 0) throw new Error(`${gateway.callsInFlight()} calls are still running.`);
  return growth;
}

it('calls of tools leave nothing in memory', { timeout: 600_000 }, async () => {
  const calls = longForm ? 1_000_000 : 10_000;
  // 1 MB is that of code and caches, after few calls and after many.
  expect(await heapGrowth(calls)).toBeLessThan(Math.min(2_000_000 + 50 * calls, 5_000_000));
});
