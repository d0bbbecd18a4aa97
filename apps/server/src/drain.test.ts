import { drainCalls, problemsOf } from '@petstore/testing/drain';
import { describe, expect, test } from 'vitest';
import { namesIn } from './testing/namesIn.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';

const rounds = 3;

// The long form: `npm run test:drain`.
describe('SIGTERM under load', () => {
  const workers = ['1', ...(process.platform === 'linux' ? ['2'] : [])];
  test.for(workers.flatMap((WORKERS) => ['uws', 'node'].map((SERVER) => ({ SERVER, WORKERS }))))(
    'SIGTERM under load completes every call on open connections over REST and WebSocket: SERVER=$SERVER WORKERS=$WORKERS',
    { timeout: 120_000 },
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
});
