import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { has, needs } from '../servers.ts';
import { call, errorOf, revisions } from '@petstore/testing/mcpMessages';
import { inProcess, serveInTest } from './serveTools.ts';
import { tool } from './toolRouter.ts';

/** Serves tools that wait for the test. */
async function start() {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const seen = { aborted: 0, started: 0 };
  const { gateway, records } = await inProcess({
    // Ends once it is released.
    finite: tool.subscription(async function* finite() {
      yield { step: 1 };
      running.resolve();
      await release.promise;
      yield { step: 2 };
      await sleep(20);
      yield { step: 3 };
    }),
    // Its stream begins once it is released.
    late: tool.subscription(async () => {
      running.resolve();
      await release.promise;
      return (async function* late() {
        yield { step: 1 };
        await sleep(20);
        yield { step: 3 };
      })();
    }),
    endless: tool.subscription(async function* endless({ signal }) {
      seen.started += 1;
      signal?.addEventListener('abort', () => (seen.aborted += 1));
      for (let step = 1; ; step += 1) {
        if (signal?.aborted) return;
        yield { step };
        running.resolve();
        await sleep(10);
      }
    }),
    // Ignores its signal.
    stuck: tool.subscription(async function* stuck({ signal }) {
      signal?.addEventListener('abort', () => (seen.aborted += 1));
      yield { step: 1 };
      running.resolve();
      await new Promise(() => {});
    }),
  });
  const { server } = await serveInTest({ gateway });
  return { records, release, running: running.promise, seen, server };
}

/** Resolves when the port accepts no connection any more. */
const refused = (port: number) =>
  vi.waitFor(async () => {
    const socket = connect(port, '127.0.0.1');
    await expect(once(socket, 'connect').finally(() => socket.destroy())).rejects.toThrow('ECONNREFUSED');
  });

const stopped = {
  code: 'SERVICE_UNAVAILABLE',
  status: 503,
  message:
    'The server stopped before the call was complete. Which part of it has run is unknown. Another call starts from the beginning.',
};

describe.each(revisions)('in %s', (revision) => {
  describe.each([{}, { progressToken: 'p' }])('with the metadata %j', (meta) => {
    it.each(['finite', 'late'])(
      'a stop completes a call of %s that ends within the deadline',
      async (name) => {
        const { release, running, server } = await start();
        const calling = call(server, name, {}, { revision, meta });
        await running;
        // `gateway.fetch` has nothing to stop.
        const closing = server.close({ timeoutMs: 30_000, graceMs: 0 });
        if (has('a port')) await refused(server.port);
        release.resolve();
        expect((await calling).message).toMatchObject({
          id: 1,
          result: { content: [{ text: '{"step":3}' }] },
        });
        expect(await closing).toBe(0);
      },
    );

    it.each(['endless', 'stuck'])('a stop ends a call of %s at the deadline with a result', async (name) => {
      needs('a port');
      const { records, running, seen, server } = await start();
      const calling = call(server, name, {}, { revision, meta });
      await running;
      expect(await server.close({ timeoutMs: 200, graceMs: 0 })).toBe(1);
      const reply = await calling;
      expect(errorOf(reply)).toEqual(stopped);
      expect(reply.message).toMatchObject({ id: 1 });
      expect(seen.aborted).toBe(1);
      // As expected as the stop: it is no error of the service, but the call failed.
      const callErrors = [{ procedure: name, code: 'SERVICE_UNAVAILABLE' }];
      expect(records).toMatchObject([{ isStream: true, error: undefined, callErrors }]);
    });
  });
});
