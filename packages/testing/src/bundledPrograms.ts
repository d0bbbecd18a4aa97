import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const server = join(root, 'apps/server');

const petStore = 'apps/server/src/main.ts';

/** The program that the tests of a project start many times. */
const programs: Readonly<Record<string, string>> = {
  documents: petStore,
  faults: 'packages/faults/src/real/serviceProcess.ts',
  'gateway-test': 'packages/gateway/test/load/target.ts',
  runtime: 'packages/runtime/src/testing/service.ts',
  server: petStore,
};

/** A `globalSetup` that bundles in 1 s: each of 300 starts then takes a third of the processor time. */
export function setup({ name }: { readonly name: string }): () => Promise<void> {
  const path = programs[name.replace(/:.*/, '')];
  if (path === undefined) throw new Error(`bundledPrograms.ts does not say what the tests of ${name} start.`);
  const program = join(root, path);
  const folder = `dist-test-${process.pid}-${name}`;
  const script = join(server, 'scripts/bundle.ts');
  const args = ['--conditions=trpc-gateway-source', script, folder, relative(server, program)];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  process.env[`BUNDLE_${program}`] = join(server, folder, 'main.js');
  return () => rm(join(server, folder), { recursive: true, force: true });
}
