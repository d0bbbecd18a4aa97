import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { petStoreConformance, type ServeOptions } from '@petstore/conformance';
import { apiKey } from './testing/newFolder.ts';
import { listening, run } from './testing/petStoreProcess.ts';

petStoreConformance('the process, from its sources, on the embedded store', serve);

async function serve({ dataDir, maxBodyBytes, publicUrl }: ServeOptions = {}) {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'petstore-')));
  const env = {
    PORT: '0',
    DATA_DIR: folder,
    API_KEY: apiKey,
    ...(maxBodyBytes !== undefined && { MAX_BODY_BYTES: String(maxBodyBytes) }),
    ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }),
  };
  const { origin, stop } = await listening(run({ env }));
  return {
    origin,
    apiKey,
    async close() {
      await stop();
      if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
