import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { appRouter } from '@petstore/core';
import * as core from '@petstore/core';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { generateTypes } from 'trpc-gateway-typegen';

// `npm run generate`, which `npm ci`, the build and the type check run: writes the types and the document of the pet store to
// `generated`, which git ignores.

const folder = new URL('../generated/', import.meta.url);

/** The document that the server prints: an application is executed, and not imported. */
const main = fileURLToPath(new URL('../../../../apps/server/src/main.ts', import.meta.url));
const args = ['--conditions=trpc-gateway-source', main, 'openapi'];
const { stdout: document } = await promisify(execFile)(process.execPath, args, { env: {} });

const files = {
  'router.ts': await generateTypes(appRouter, { exports: core, errorShape: 'default' }),
  'openapi.json': document,
  'openapi.ts': astToString(await openapiTypeScript(document)),
};
await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, folder);
  // Others may read a file meanwhile.
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text);
}
