import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Call, Client } from './clientGenerators.ts';

const run = promisify(execFile);
const binaries = fileURLToPath(new URL('../../../../node_modules/.bin/', import.meta.url));

/** The functions of a generated client that call the operations, by operation. */
export type ClientCalls = Readonly<
  Record<string, () => Promise<readonly [status: number | undefined, value: unknown]>>
>;

/** Writes a client to `work`, compiles it with `strict`, and loads it. @throws {Error} by the compiler */
export async function compileClient(
  client: Client,
  calls: readonly Call[],
  work: string,
  origin: string,
): Promise<ClientCalls> {
  const file = join(work, `${client.name}.calls.ts`);
  await writeFile(file, await client.source(calls, work, origin));
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
  const target = [
    '--target',
    'es2023',
    '--module',
    'preserve',
    '--lib',
    'es2023,dom,dom.iterable,dom.asynciterable',
  ];
  await run(join(binaries, 'tsc'), [...strict, ...target, file], { cwd: work }).catch(
    (error: { stdout: string }) => {
      throw new Error(`The client of ${client.name} does not compile:\n${error.stdout}`);
    },
  );
  const bundle = join(work, `${client.name}.calls.mjs`);
  const bundling = [file, '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`];
  await run(join(binaries, 'esbuild'), bundling);
  return ((await import(pathToFileURL(bundle).href)) as { calls: ClientCalls }).calls;
}
