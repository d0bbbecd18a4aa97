import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = `dist-test-${process.pid}`;
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * For `globalSetup` of vitest's configuration: bundles the process once, as `npm run build` does, in 1 s, and `fetchProcess.ts` with it. Tests start it
 * some 200 times, and a start takes 140 ms of processor time in place of the sources' 560.
 */
export function setup(): void {
  const args = [
    '--conditions=@petstore/source',
    at('scripts/bundle.ts'),
    folder,
    'src/testing/fetchProcess.ts',
  ];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  process.env['PETSTORE_MAIN'] = at(`${folder}/main.js`);
  process.env['PETSTORE_FETCH'] = at(`${folder}/testing/fetchProcess.js`);
}

export async function teardown(): Promise<void> {
  await rm(at(folder), { recursive: true, force: true });
}
