import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';

const main = fileURLToPath(new URL('../../../server/src/main.ts', import.meta.url));

export interface PetStore {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A valid API key. */
  readonly key: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts an empty pet store on a free port of 127.0.0.1, as a separate process: an application is executed, not imported.
 * @param corsOrigins the origins from which pages may call it
 */
export async function startPetStore(corsOrigins: readonly string[] = []): Promise<PetStore> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  const key = 'a-key-for-the-examples-0123456789';
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', main], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      API_KEY: key,
      CORS_ORIGINS: corsOrigins.join(','),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  if (child.stdout === null) throw new Error('Its stdout is not piped.');
  for await (const line of createInterface(child.stdout)) {
    const { msg, origin } = JSON.parse(line) as { readonly msg: string; readonly origin: string };
    if (msg !== 'listening') continue;
    // Keeps reading, so that the log never blocks.
    child.stdout.resume();
    return { origin, key, close };
  }
  await close();
  throw new Error('The pet store did not start.');
}
