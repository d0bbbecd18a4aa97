import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import type { ComparedDocument } from './document.ts';
import { documentChanges } from './documentChanges.ts';
import { review } from './review.ts';
import { typeChanges } from './typeChanges.ts';

// Compares the current contract with the released one. See contract/README.md.
const contractFolder = new URL('../../../contract/', import.meta.url);
const files = {
  document: new URL('openapi.json', contractFolder),
  types: new URL('router.ts', contractFolder),
  announced: new URL('announced.json', contractFolder),
};
/** The types that clients import. A test of that package compares them with the router. */
const currentTypes = await readFile(new URL('../../types/src/generated/router.ts', import.meta.url), 'utf8');
const Announced = z.array(z.strictObject({ change: z.string(), why: z.string().min(1) }));

const { release: isRelease } = parseArgs({
  options: { release: { type: 'boolean', default: false } },
}).values;
const currentDocument = await printedDocument();
if (isRelease) {
  await writeFile(files.document, `${currentDocument}\n`);
  await writeFile(files.types, currentTypes);
  await writeFile(files.announced, '[]\n');
} else {
  const released = JSON.parse(await readFile(files.document, 'utf8')) as ComparedDocument;
  const announced = Announced.parse(JSON.parse(await readFile(files.announced, 'utf8')));
  const { changes, unannounced, unused } = review(
    [
      ...documentChanges(released, JSON.parse(currentDocument) as ComparedDocument),
      ...(await typeChanges(await readFile(files.types, 'utf8'), currentTypes)),
    ],
    announced,
  );
  const lines = changes.map(({ isBreaking, sentence, why }) =>
    [
      isBreaking ? 'breaking' : 'harmless',
      sentence,
      ...(why === undefined ? [] : [`(announced: ${why})`]),
    ].join('  '),
  );
  lines.push(
    `${changes.length} changes since the last release; breaking and not announced: ${unannounced.length}.`,
    ...unused.map(
      ({ change }) => `Announced in contract/announced.json, but not found as a breaking change: ${change}`,
    ),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  if (unannounced.length + unused.length > 0) process.exitCode = 1;
}

/** Returns the OpenAPI document that the server prints. The server is an application, so it is run and not imported. */
async function printedDocument(): Promise<string> {
  const main = fileURLToPath(new URL('../../../apps/server/src/main.ts', import.meta.url));
  const args = ['--conditions=trpc-gateway-source', main, 'openapi'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {}, maxBuffer: 2 ** 26 });
  return stdout.trimEnd();
}
