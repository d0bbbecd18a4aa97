import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = `dist-test-${process.pid}`;
const packagePath = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** A `globalSetup` that bundles in 1 s: each of 200 starts then takes 140 instead of 560 ms of CPU time. */
export function setup(): void {
  const args = ['--conditions=trpc-gateway-source', packagePath('scripts/bundle.ts'), folder];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  process.env['PETSTORE_MAIN'] = packagePath(`${folder}/main.js`);
}

export async function teardown(): Promise<void> {
  await rm(packagePath(folder), { recursive: true, force: true });
}
