import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening, startService } from '@petstore/testing/serviceProcess';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));

/**
 * Starts an empty pet store on a free port of 127.0.0.1 until the test ends, as a separate process: an application is executed, not
 * imported.
 * @returns scheme, host and port, and a valid API key
 */
export async function startPetStore(): Promise<{ readonly origin: string; readonly key: string }> {
  const folder = await temporaryFolder();
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
  const { origin, stop } = await listening(service);
  onTestFinished(async () => void (await stop()));
  return { origin, key };
}
