import { appRouter } from '@petstore/core';
import * as core from '@petstore/core';
import { generateTypes } from 'trpc-gateway-typegen';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTypeScript, { astToString } from 'openapi-typescript';

/** The folder of the generated files. */
export const generatedFolder = new URL('../generated/', import.meta.url);

/** Generates the files from the pet store, and returns them by file name. */
export async function generated(): Promise<Readonly<Record<string, string>>> {
  const document = await printedDocument();
  return {
    'router.ts': await generateTypes(appRouter, { exports: core, errorShape: 'default' }),
    'openapi.json': document,
    'openapi.ts': `// Generated from the OpenAPI document. Change the router, not this.\n\n${astToString(
      await openapiTypeScript(document),
    )}`,
  };
}

/** Returns the document that the server prints. The server is an application, so it is executed and not imported. */
async function printedDocument(): Promise<string> {
  const main = fileURLToPath(new URL('../../../../apps/server/src/main.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=trpc-gateway-source', main, 'openapi'],
    { env: {}, maxBuffer: 2 ** 26 },
  );
  return stdout;
}
