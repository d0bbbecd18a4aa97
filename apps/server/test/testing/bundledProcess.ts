import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = `dist-test-${process.pid}`;
const packagePath = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Bundles the process once for all tests, like `npm run build`, in 1 s. Used as vitest's `globalSetup`.
 * Tests start the process about 200 times, and bundling reduces the CPU time of a start from 560 to 140 ms.
 */
export function setup(): void {
  const args = ['--conditions=trpc-gateway-source', packagePath('scripts/bundle.ts'), folder];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  process.env['PETSTORE_MAIN'] = packagePath(`${folder}/main.js`);
}

export async function teardown(): Promise<void> {
  await rm(packagePath(folder), { recursive: true, force: true });
}
