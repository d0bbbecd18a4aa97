import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { freePort } from '@petstore/testing/freePort';
import { type Call, clients, type ClientCalls, compileClient } from 'trpc-gateway-test/clients';
import type { OpenApiDocument } from 'trpc-gateway-test';
import { samples } from './samples.ts';
import { startHelpDesk } from './startHelpDesk.ts';

/**
 * `generatedClients.ts FOLDER`: generates clients from the document that trpc-to-openapi writes for the help desk, by the
 * generators that npm has installed in FOLDER, compiles each with `strict`, and calls every operation: first of the help
 * desk on trpc-to-openapi, then of the help desk on the gateway, under the same URL. It prints a line for each operation,
 * and exits with 1 if a status or a value of the gateway is another.
 */

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const run = promisify(execFile);
const print = (cells: readonly string[]) => process.stdout.write(`${cells.join(' | ')}\n`);
const [generators] = process.argv.slice(2);
if (generators === undefined) throw new Error('Name the folder of npm’s generators.');

/** Calls that trpc-to-openapi answers with 415: it expects a content type where its document has no body. */
const unsupported = new Set(['tickets-watch', 'tickets-close', 'tickets-reopen']);

const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const work = await mkdtemp(join(tmpdir(), 'clients-'));
let failures = 0;

try {
  const document = await onServer('onTrpcToOpenApi', documentOf);
  await writeFile(join(work, 'openapi.json'), JSON.stringify(document));
  await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
  const calls = callsOf(document);
  // openapi-generator reads more than npm installs.
  const ofNpm = clients.filter(({ name }) => name !== 'openapi-generator');
  const columns: (readonly string[])[] = [];
  for (const client of ofNpm) {
    const [command = '', ...args] = await client.generate(work, origin);
    await run(join(generators, 'node_modules/.bin', command), args, { cwd: work, maxBuffer: 1e8 });
    const functions = await compileClient(client, calls, work, origin);
    const before = await onServer('onTrpcToOpenApi', () => outcomesOf(functions));
    const after = await onServer('onGateway', () => outcomesOf(functions));
    columns.push(calls.map(({ id }) => verdict(id, before.get(id), after.get(id))));
  }
  print(['operation', ...ofNpm.map(({ name }) => name)]);
  for (const [row, { id }] of calls.entries()) print([id, ...columns.map((column) => column[row] ?? '')]);
} finally {
  await rm(work, { recursive: true });
}
print([`${failures} failed`]);
if (failures > 0) process.exitCode = 1;

/** Starts a server that has no rows yet, runs a function, and stops the server. */
async function onServer<Result>(
  server: 'onTrpcToOpenApi' | 'onGateway',
  use: () => Promise<Result>,
): Promise<Result> {
  const { stop } = await startHelpDesk(server, port);
  try {
    return await use();
  } finally {
    await stop();
  }
}

async function documentOf(): Promise<OpenApiDocument> {
  return (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApiDocument;
}

/** The calls in the order of the samples, in which rows are created before they are read. */
function callsOf({ paths }: OpenApiDocument): Call[] {
  const calls = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Call => {
      const id = operation.operationId ?? '';
      return { id, path, method: method.toUpperCase(), operation, sample: samples[id] ?? {} };
    }),
  );
  const order = Object.keys(samples);
  return calls.toSorted((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
}

type Outcome = readonly [status: number | undefined, value: unknown];

async function outcomesOf(functions: ClientCalls): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const [id, call] of Object.entries(functions)) {
    const [status, value] = await call();
    outcomes.set(id, [status, id === 'account-signIn' ? Object.keys(value as object) : value]);
  }
  return outcomes;
}

function verdict(id: string, before: Outcome | undefined, after: Outcome | undefined): string {
  if (unsupported.has(id) && before?.[0] === 415 && after?.[0] === 200) return '200, was 415';
  if (before && isDeepStrictEqual(after, before)) return `${after?.[0]}`;
  failures += 1;
  return `FAILED ${JSON.stringify(after)}, expected ${JSON.stringify(before)}`;
}
