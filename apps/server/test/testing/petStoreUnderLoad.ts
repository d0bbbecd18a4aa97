import { collections, animals } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { runtimes } from '@petstore/testing/runtimes';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { reservePort } from 'trpc-gateway/serve';
import { apiKey, nameLength, pets, startPinned, type UnderLoad } from 'trpc-gateway-test/load';

/** The program of `npm start`, from its sources. */
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/**
 * Starts the pet store on core 0, with the embedded store and default settings.
 * @param SERVER the adapter: `auto`, `uws`, `node` or `bun`
 */
export const startPetStoreUnderLoad = async (SERVER: string): Promise<UnderLoad> => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-load-'));
  await stock(folder);
  const reserved = await reservePort('127.0.0.1', 0, false);
  const { port } = reserved;
  reserved.release();
  const env = { API_KEY: apiKey, DATA_DIR: folder, PORT: String(port), SERVER };
  const server = startPinned(0, main, env, SERVER === 'bun' ? runtimes()['bun'] : undefined);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const origin = `http://127.0.0.1:${port}`;
    while (!(await fetch(`${origin}/readyz`).catch(() => undefined))?.ok) {
      if (server.child.exitCode !== null) throw new Error('The server did not start.');
      await sleep(50);
    }
    return { ...server, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Fills the store directly: the service rejects names of this length. */
async function stock(dataDir: string): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, collections });
  const records = store.collection(animals);
  // The first animal is the one that clients fetch. It has a usual size.
  await records.create({ name: 'Rex', categoryId: 1, status: 'available' });
  const name = 'R'.repeat(nameLength);
  await Promise.all(Array.from({ length: pets - 1 }, () => records.create({ name, categoryId: 1 })));
  await store.close();
}
