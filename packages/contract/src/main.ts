import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import type { Document } from './document.ts';
import { documentChanges } from './documentChanges.ts';
import { review } from './review.ts';
import { typeChanges } from './typeChanges.ts';

// Compares what the sources give with what was released: contract/README.md.
const folder = new URL('../../../contract/', import.meta.url);
const at = {
  document: new URL('openapi.json', folder),
  types: new URL('router.ts', folder),
  announced: new URL('announced.json', folder),
};
/** What clients import; a test of that package holds it to the router. */
const types = await readFile(new URL('../../types/src/generated/router.ts', import.meta.url), 'utf8');
const Announced = z.array(z.strictObject({ change: z.string(), why: z.string().min(1) }));

const { release } = parseArgs({ options: { release: { type: 'boolean', default: false } } }).values;
const text = await printedDocument();
if (release) {
  await writeFile(at.document, `${text}\n`);
  await writeFile(at.types, types);
  await writeFile(at.announced, '[]\n');
} else {
  const released = JSON.parse(await readFile(at.document, 'utf8')) as Document;
  const announced = Announced.parse(JSON.parse(await readFile(at.announced, 'utf8')));
  const { changes, unannounced, idle } = review(
    [
      ...documentChanges(released, JSON.parse(text) as Document),
      ...(await typeChanges(await readFile(at.types, 'utf8'), types)),
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
    ...idle.map(({ change }) => `Announced in contract/announced.json and not so: ${change}`),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  if (unannounced.length + idle.length > 0) process.exitCode = 1;
}

/** The document as the server prints it. The server is an application: it is run, not imported. */
async function printedDocument(): Promise<string> {
  const main = fileURLToPath(new URL('../../../apps/server/src/main.ts', import.meta.url));
  const args = ['--conditions=@petstore/source', main, 'openapi'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {}, maxBuffer: 2 ** 26 });
  return stdout.trimEnd();
}
