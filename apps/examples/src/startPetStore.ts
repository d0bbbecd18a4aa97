import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening, startService } from '@petstore/testing/serviceProcess';

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));

export interface PetStore {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A valid API key. */
  readonly key: string;
  readonly close: () => Promise<void>;
}

/** Starts an empty pet store on a free port of 127.0.0.1, as a separate process: an application is executed, not imported. */
export async function startPetStore(): Promise<PetStore> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  const key = 'a-key-for-the-examples-0123456789';
  const service = startService(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      API_KEY: key,
      // Tests keep the machine busy: requests that wait must not be rejected.
      MAX_QUEUE_MS: '60000',
    },
  });
  const close = async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await rm(folder, { recursive: true, force: true });
  };
  const { origin } = await listening(service).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { origin, key, close };
}
