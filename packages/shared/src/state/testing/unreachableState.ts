import type { FaultProxy } from '@petstore/testing/mongodb';
import { initTRPC } from '@trpc/server';
import { createGateway, type State } from 'trpc-gateway';
import { describe, expect, it, vi } from 'vitest';

/** A state on another machine, behind a proxy. */
interface DistantState {
  readonly proxy: FaultProxy;
  /** How many clients the state has created. */
  readonly clients: () => number;
  readonly state: State;
}

/** Describes what every state on another machine does while that machine cannot be reached. */
export function describeUnreachableState(title: string, open: () => Promise<DistantState>): void {
  describe(`a state ${title} that cannot be reached`, () => {
    it('operations without a response reject, and later ones have another client, one for all', async () => {
      const { clients, proxy, state } = await open();
      await state.add('a', 'first', 60_000);
      expect(clients()).toBe(1);
      proxy.set({ kind: 'freeze' });
      const writes = await Promise.allSettled(
        ['b', 'c'].map(async (key) => state.set(key, 'value', 60_000, 'ada')),
      );
      expect(writes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      proxy.set({ kind: 'none' });
      expect(await state.add('a', 'second', 60_000)).toBe('first');
      expect(clients()).toBe(2);
    });

    it('rateLimit counts per process meanwhile, logs one error, and counts in the state again', async () => {
      const { proxy, state } = await open();
      const printed: string[] = [];
      // The gateway reports an unavailable state here.
      const log = vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(String(line)));
      const t = initTRPC.create();
      const { fetch } = await createGateway({
        router: t.router({ ping: t.procedure.query(() => 'pong') }),
        createContext: () => ({}),
        document: { title: 'Ping', version: '0.0.0' },
        rateLimit: { calls: 3, windowMs: 3_600_000 },
        state,
      });
      const call = async () => (await fetch('http://localhost/trpc/ping')).status;
      proxy.set({ kind: 'reject' });
      expect([await call(), await call(), await call(), await call(), await call()]).toEqual([
        200, 200, 200, 429, 429,
      ]);
      expect(printed).toEqual([
        expect.stringContaining('the shared state of rateLimit is unavailable') as string,
      ]);
      proxy.set({ kind: 'none' });
      // The shared bucket was not used.
      await expect.poll(call, { interval: 200 }).toBe(200);
      // Nothing else may be printed.
      log.mockClear();
    });
  });
}
