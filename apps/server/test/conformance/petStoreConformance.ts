import { describe } from 'vitest';
import { animalCases } from './cases/animals.ts';
import { idempotencyCases } from './cases/idempotency.ts';
import { interfaceCases } from './cases/interface.ts';
import { pageCases } from './cases/pages.ts';
import { rpcCases } from './cases/rpcCases.ts';
import { apiKey, type Folder, newFolder } from '../testing/newFolder.ts';
import { ready, type RunOptions } from '../testing/petStoreProcess.ts';
import { type AtEnd, subjectOf } from './subject.ts';

/**
 * Declares the test cases that every server of the pet store must pass over a real port, with any adapter and any store.
 * They cover each line of docs/interface.md#pet-store-service-interface and each section of
 * docs/decisions.md#http-behaviour-of-the-pet-store. They leave out what no server offers yet, and what a client cannot trigger
 * on a healthy server:
 *
 * - CORS; 429 and the rate limit headers; issuing and revoking keys, and how soon that takes effect
 * - streams, SSE and WebSocket on the tRPC protocol
 * - the docs page and the health routes, which `process/publicPaths.test.ts` requests
 * - HTTP itself: framing, methods, media types, request ids, paths and header values in all their forms. `packages/gateway/test` covers them
 *   on every adapter; the cases here check one or two forms of each
 * - 500, 503 and 504 with `Retry-After`: the tests of the gateway and the server cover failing stores
 * - restarts: the contract of the stores, and `packages/faults`
 *
 * @param newStore creates the store of each server. Default: a folder
 */
export function petStoreConformance(
  name: string,
  options: RunOptions = {},
  newStore: (atEnd: AtEnd) => Promise<Pick<Folder, 'serve'>> = newFolder,
): void {
  async function serve(atEnd: AtEnd) {
    const store = await newStore(atEnd);
    const server = await store.serve({ ...options, env: { API_KEY: apiKey } });
    await ready(server);
    return { origin: server.origin, apiKey };
  }
  // oxlint-disable-next-line vitest/valid-title -- the caller names the server
  describe(name, () => {
    const subject = subjectOf(serve);
    interfaceCases(subject);
    // These have a server of their own: if it does not start, only they fail.
    describe('pages', () => {
      pageCases(subject);
    });
    animalCases(subject);
    idempotencyCases(subject);
    rpcCases(subject);
  });
}
