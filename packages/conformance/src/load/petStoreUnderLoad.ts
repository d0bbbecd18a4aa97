import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { reservePort } from '@petstore/gateway/uws';
import { startPinned, type Pinned } from './pinned.ts';

/** The process as it is started by `npm start`, from its sources. */
const main = fileURLToPath(new URL('../../../../apps/server/src/main.ts', import.meta.url));
const apiKey = 'the-key-of-a-load-test';

/** How many animals there are: a page of the most that a page may have. */
const animals = 100;
/** Long enough that the buffers of a connection do not hold such a page. */
const nameLength = 10_000;

export interface PetStoreUnderLoad extends Pinned {
  readonly port: number;
}

/** The pet store's own process with its embedded store and its defaults, on core 0. */
export async function startPetStoreUnderLoad(): Promise<PetStoreUnderLoad> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-load-'));
  await stock(folder);
  const reserved = await reservePort('127.0.0.1', 0, false);
  const { port } = reserved;
  reserved.release();
  const server = startPinned(0, main, { API_KEY: apiKey, DATA_DIR: folder, PORT: String(port) });
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
}

/** Through the store itself: the service creates no names that long. */
async function stock(dataDir: string): Promise<void> {
  const store = await openEmbeddedStore({ dataDir });
  // The first is the one that is fetched, and as large as an animal usually is.
  await store.create({ name: 'Rex', categoryId: 1, status: 'available' });
  const name = 'R'.repeat(nameLength);
  await Promise.all(Array.from({ length: animals - 1 }, () => store.create({ name, categoryId: 1 })));
  await store.close();
}

const credential = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;

/** Asks for one animal. */
export const getOne = `GET /v1/pets/1 HTTP/1.1\r\n${credential}\r\n`;
/** Asks for a megabyte of animals. */
export const getAll = `GET /v1/pets?limit=${animals} HTTP/1.1\r\n${credential}\r\n`;
/** The head of a create, but for its last line end, and its body. */
export const createHead = `POST /v1/pets HTTP/1.1\r\n${credential}Content-Type: application/json\r\nContent-Length: 2000\r\n`;
