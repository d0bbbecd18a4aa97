import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';

/** Returns the problems that Redocly's linter finds in a document by `redocly.yaml`. */
export async function redoclyProblems(
  document: object,
): Promise<readonly (readonly [pointer: string | undefined, message: string])[]> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const run = promisify(execFile)(
    join(root, 'node_modules/.bin/redocly'),
    ['lint', join(folder, 'openapi.json'), '--config', join(root, 'redocly.yaml'), '--format', 'json'],
    { cwd: root, env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
  );
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
  const { problems } = JSON.parse(stdout) as {
    problems: { location: { pointer: string }[]; message: string }[];
  };
  return problems.map(({ location, message }) => [location[0]?.pointer, message]);
}
