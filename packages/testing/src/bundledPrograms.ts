import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const server = join(root, 'apps/server');

/** The program that the tests of a project start many times; the pet store in other projects. */
const programs: Readonly<Record<string, string>> = {
  faults: 'packages/faults/src/real/serviceProcess.ts',
  'gateway-test': 'packages/gateway/test/load/target.ts',
  runtime: 'packages/runtime/src/testing/service.ts',
};

/** A `globalSetup` that bundles in 1 s: each of 300 starts then takes a third of the processor time. */
export function setup({ name }: { readonly name: string }): () => Promise<void> {
  const program = join(root, programs[name.replace(/:.*/, '')] ?? 'apps/server/src/main.ts');
  const folder = `dist-test-${process.pid}-${name}`;
  const script = join(server, 'scripts/bundle.ts');
  const args = ['--conditions=trpc-gateway-source', script, folder, relative(server, program)];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  process.env[`BUNDLE_${program}`] = join(server, folder, 'main.js');
  return () => rm(join(server, folder), { recursive: true, force: true });
}
