import { appRouter } from '@petstore/core';
import * as core from '@petstore/core';
import { generateTypes } from '@petstore/typegen';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTypeScript, { astToString } from 'openapi-typescript';

/** The folder of what is generated. */
export const generatedFolder = new URL('../generated/', import.meta.url);

/** What is generated from the pet store, by file name. */
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

/** The document as the server prints it. The server is an application: it is run, not imported. */
async function printedDocument(): Promise<string> {
  const main = fileURLToPath(new URL('../../../../apps/server/src/main.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@petstore/source', main, 'openapi'],
    { env: {}, maxBuffer: 2 ** 26 },
  );
  return stdout;
}
