import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { drainPetStore, drainTicking, faultsOf } from './testing/drain/drainRound.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';

const rounds = 3;
const ticking = fileURLToPath(new URL('testing/drain/tickingProcess.ts', import.meta.url));

// The long form: `npm run test:drain`.
describe('SIGTERM under load loses no request on connections that are open, and resets none', () => {
  const workers = ['1', ...(process.platform === 'linux' ? ['2'] : [])];
  test.for(workers.flatMap((WORKERS) => ['uws', 'node'].map((SERVER) => ({ SERVER, WORKERS }))))(
    'SERVER=$SERVER WORKERS=$WORKERS: calls over REST and WebSocket',
    { timeout: 120_000 },
    async (env, { annotate }) => {
      for (let round = 0; round < rounds; round += 1) {
        const { dataDir, serve } = await newFolder();
        const server = await serve({ env: { API_KEY: apiKey, ...env } });
        const drained = await drainPetStore(server, apiKey, dataDir);
        await annotate(JSON.stringify(drained));
        expect(faultsOf(drained)).toEqual({});
      }
    },
  );

  test('streams of events, and calls on WebSockets that take a while', async ({ annotate }) => {
    for (let round = 0; round < rounds; round += 1) {
      const { serve } = await newFolder();
      const drained = await drainTicking(await serve({ entry: ticking }));
      await annotate(JSON.stringify(drained));
      expect(faultsOf(drained)).toEqual({});
    }
  }, 60_000);
});
