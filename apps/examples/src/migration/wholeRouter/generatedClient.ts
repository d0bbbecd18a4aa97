import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clients, compileClient } from 'trpc-gateway-test/clients';
import type { OpenApiDocument } from 'trpc-gateway-test';
import { callsOf, startWholeRouter } from './startWholeRouter.ts';

/**
 * `generatedClient.ts FOLDER`: generates the types of the router of 600 procedures by the openapi-typescript that npm has
 * installed in FOLDER, compiles a call of each operation with `strict`, and runs all. It prints the times, and exits with
 * 1 if a call does not succeed.
 */

const run = promisify(execFile);
const [generators] = process.argv.slice(2);
const client = clients.find(({ name }) => name === 'openapi-fetch');
if (generators === undefined || !client) throw new Error('Name the folder of npm’s generators.');

const work = await mkdtemp(join(tmpdir(), 'whole-'));
const { origin, started, stop } = await startWholeRouter();
try {
  const root = fileURLToPath(new URL('../../../../../', import.meta.url));
  await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApiDocument;
  await writeFile(join(work, 'openapi.json'), JSON.stringify(document));
  const [command = '', ...args] = await client.generate(work, origin);
  await run(join(generators, 'node_modules/.bin', command), args, { cwd: work });
  const functions = await compileClient(client, callsOf(document), work, origin);
  const start = performance.now();
  const outcomes = await Promise.all(Object.values(functions).map((call) => call()));
  const succeeded = outcomes.filter(([status]) => status === 200 || status === 204).length;
  const callsMs = Math.round(performance.now() - start);
  process.stdout.write(`${JSON.stringify({ ...started, calls: outcomes.length, succeeded, callsMs })}\n`);
  if (succeeded < started.procedures) process.exitCode = 1;
} finally {
  await stop();
  await rm(work, { recursive: true });
}
