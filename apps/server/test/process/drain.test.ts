import { drainCalls, problemsOf } from '@petstore/testing/drain';
import { longForm, nodeServers } from '@petstore/testing/forms';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { drainSocketCalls, socketProblems } from '../testing/drainSocketCalls.ts';
import { namesIn } from '../testing/namesIn.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { listening, run } from '../testing/petStoreProcess.ts';

const rounds = longForm ? 50 : 3;
/** The service of the runtime's tests, which has long calls. */
const notes = fileURLToPath(new URL('../../../../packages/runtime/src/testing/service.ts', import.meta.url));

// The long form: `npm run test:drain -w @petstore/server`.
describe('SIGTERM under load', () => {
  const workers = ['1', ...(process.platform === 'linux' ? ['2'] : [])];
  test.for(workers.flatMap((WORKERS) => nodeServers.map((SERVER) => ({ SERVER, WORKERS }))))(
    'SIGTERM under load completes every call on open connections over REST and WebSocket: SERVER=$SERVER WORKERS=$WORKERS',
    { timeout: rounds * 40_000 },
    async (env, { annotate }) => {
      for (let round = 0; round < rounds; round += 1) {
        const { dataDir, serve } = await newFolder();
        const server = await serve({ env: { API_KEY: apiKey, ...env } });
        const drained = await drainCalls(
          { ...server, apiKey, path: '/v1/pets', procedure: 'createPet' },
          () => namesIn(dataDir),
        );
        await annotate(JSON.stringify(drained));
        expect(problemsOf(drained)).toEqual({});
      }
    },
  );

  test.for(nodeServers)(
    'SIGTERM while clients of tRPC have long calls on WebSockets completes these, answers all others with a result or 503, and exits with code 0: server %s',
    { timeout: 120_000 },
    async (server, { annotate }) => {
      const env = { NOTES: '/dev/null', OPTIONS: JSON.stringify({ server }) };
      const service = await listening(run({ entry: notes, env }));
      onTestFinished(() => void service.child.kill('SIGKILL'));
      const drained = await drainSocketCalls(service, 1500);
      await annotate(JSON.stringify(drained));
      expect(socketProblems(drained)).toEqual([]);
      expect(drained.completed).toBeGreaterThan(20);
      expect(drained.unavailable).toBeGreaterThan(0);
    },
  );
});
