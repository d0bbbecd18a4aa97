/*
 * `npm run check:tampered`: runs `npm ci` for each entry of package-lock.json against a registry that serves other content.
 * Each must fail with EINTEGRITY. Takes about 8 minutes on two cores.
 */
import { availableParallelism } from 'node:os';
import { lockedPackages, startTamperedRegistry } from './tamperedRegistry.ts';

const entries = await lockedPackages();
const registry = await startTamperedRegistry();
const left = entries.values();
let rejected = 0;

await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    // Each worker takes the next entry of the same iterator.
    for (const entry of left) {
      const outcome = await registry.install(entry);
      if (outcome === 'EINTEGRITY') rejected++;
      else process.stderr.write(`${entry.path}@${entry.version}: ${outcome}\n`);
      if (rejected % 100 === 0) process.stderr.write(`${rejected} of ${entries.length}\n`);
    }
  }),
);
await registry.close();

process.stdout.write(`${rejected} of ${entries.length} entries fail with EINTEGRITY\n`);
if (rejected < entries.length) process.exitCode = 1;
