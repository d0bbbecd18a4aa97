import { readFile } from 'node:fs/promises';
import { typeChanges } from './typeChanges.ts';

// `.ci/contract` runs it: prints what has changed in the types since the last release, and fails if a change breaks clients.
const [released, current] = await Promise.all(
  ['../../../../contract/router.ts', '../generated/router.ts'].map((path) =>
    readFile(new URL(path, import.meta.url), 'utf8'),
  ),
);
const changes = await typeChanges(released ?? '', current ?? '');
for (const { isBreaking, sentence } of changes) {
  process.stdout.write(`${isBreaking ? 'breaking' : 'harmless'}  ${sentence}\n`);
}
if (changes.some(({ isBreaking }) => isBreaking)) process.exitCode = 1;
