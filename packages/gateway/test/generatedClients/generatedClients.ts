import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { serve } from 'trpc-gateway/uws';
import type { OpenApiDocument } from '../openApi.ts';
import { type Call, type Client, clients, pythonClient } from './clientGenerators.ts';
import { createComposed } from './composed.ts';
import { FileSample, type Sample, samples } from './samples.ts';

/**
 * `generatedClients.ts FOLDER PYTHON`: generates clients by `clientGenerators.ts` (npm in FOLDER, PyPI in the virtual
 * environment PYTHON) and openapi-python-client, compiles each with `strict`, and calls every operation. Prints a
 * line for each; exits with 1 if a status or value differs from `samples.ts`. `limits` and `otherValues` list
 * exceptions with reasons.
 */

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const run = promisify(execFile);
const print = (cells: readonly string[]) => process.stdout.write(`${cells.join(' | ')}\n`);
const [generators, python] = process.argv.slice(2);
if (generators === undefined || python === undefined) {
  throw new Error('Name the folder of npm’s generators and the virtual environment of those of PyPI.');
}
// `openapi-python-client` calls `ruff`, which is installed beside it.
const env = { ...process.env, PATH: `${join(python, 'bin')}:${process.env['PATH']}` };

const gateway = await createComposed('3.2');
const server = await serve(gateway, { port: 0 });
const origin = `http://127.0.0.1:${server.port}`;
const work = await mkdtemp(join(tmpdir(), 'clients-'));
let failures = 0;

try {
  const document = (await gateway.document()) as unknown as OpenApiDocument;
  await writeFile(join(work, 'openapi.json'), JSON.stringify(document));
  // The generators of PyPI do not read OpenAPI 3.2.
  const document31 = (await (await createComposed('3.1')).document()) as unknown as OpenApiDocument;
  await writeFile(join(work, 'openapi-3.1.json'), JSON.stringify(document31));
  await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): Call[] => {
      const id = operation.operationId ?? '';
      const sample = samples[id];
      if (!sample) throw new Error(`samples.ts has no call of ${id}.`);
      return [{ id, path, method: method.toUpperCase(), operation, sample }];
    }),
  );
  const pending = [
    ...clients.map((client) => outcomesOf(client, calls)),
    outcomesInPython(document31, calls),
  ];
  // The folder is removed when all are done, so that the error of one is not hidden by another that still writes to it.
  await Promise.allSettled(pending);
  const outcomes = await Promise.all(pending);
  print(['operation', ...[...clients, pythonClient].map(({ name }) => name)]);
  for (const { id } of calls) print([id, ...outcomes.map((outcome) => outcome[id] ?? '')]);
} finally {
  await rm(work, { recursive: true });
  await server.close({ timeoutMs: 0 });
}
print([`${failures} failed`]);
if (failures > 0) process.exitCode = 1;

/** What a call of a client returns. */
type Result = readonly [status: number | undefined, value: unknown];

async function outcomesOf(client: Client, calls: readonly Call[]): Promise<Record<string, string>> {
  const [command = '', ...args] = await client.generate(work, origin);
  await generate(command, args);
  const possible = calls.filter(({ id }) => !(id in client.limits));
  const functions = await compileClient(client, possible);
  return compare(
    client,
    calls,
    async (id) => await (functions[id]?.() ?? Promise.reject(new Error('missing'))),
  );
}

/** Writes a client, compiles it with `strict`, and loads its functions, by operation. @throws {Error} by the compiler */
async function compileClient(client: Client, calls: readonly Call[]) {
  const file = join(work, `${client.name}.calls.ts`);
  await writeFile(file, await client.source(calls, work, origin));
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
  const lib = 'es2023,dom,dom.iterable,dom.asynciterable';
  const target = ['--target', 'es2023', '--module', 'preserve', '--lib', lib];
  const binaries = join(root, 'node_modules/.bin');
  await run(join(binaries, 'tsc'), [...strict, ...target, file], { cwd: work }).catch(
    (error: { stdout: string }) => {
      throw new Error(`The client of ${client.name} does not compile:\n${error.stdout}`);
    },
  );
  const bundle = join(work, `${client.name}.calls.mjs`);
  const bundling = [file, '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`];
  await run(join(binaries, 'esbuild'), bundling);
  const module = (await import(pathToFileURL(bundle).href)) as {
    calls: Record<string, () => Promise<Result>>;
  };
  return module.calls;
}

async function generate(command: string, args: readonly string[]): Promise<void> {
  const [, inPython] = /^python\/(.*)/.exec(command) ?? [];
  const file = inPython
    ? join(python as string, 'bin', inPython)
    : join(generators as string, 'node_modules/.bin', command);
  await run(file, args, { cwd: work, env, maxBuffer: 1e8 });
}

async function outcomesInPython(
  document: OpenApiDocument,
  calls: readonly Call[],
): Promise<Record<string, string>> {
  const { name, config, limits } = pythonClient;
  // Without the operations that it cannot call: for one of them, it would write no client at all.
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).filter(([, { operationId = '' }]) => !(operationId in limits));
    return [path, Object.fromEntries(operations)] as const;
  });
  await writeFile(
    join(work, 'python.json'),
    JSON.stringify({ ...document, paths: Object.fromEntries(paths) }),
  );
  await writeFile(join(work, 'python.config.json'), JSON.stringify(config));
  const target = join(work, 'python/generated');
  const options = ['--meta', 'none', '--config', 'python.config.json', '--output-path', target];
  await generate(`python/${name}`, ['generate', '--path', 'python.json', ...options]);
  const possible = calls.filter(({ id }) => !(id in limits));
  const calling = run(join(python as string, 'bin/python'), [
    join(import.meta.dirname, 'pythonCalls.py'),
    join(work, 'python'),
    origin,
  ]);
  calling.child.stdin?.end(
    JSON.stringify(
      possible.map(({ id, sample }) => ({ id, sample })),
      (_name, value: unknown) =>
        value instanceof FileSample ? { file: { text: value.text, name: value.name } } : value,
    ),
  );
  const results = JSON.parse((await calling).stdout) as Record<string, string | Result>;
  return compare(pythonClient, calls, async (id) => {
    const result = results[id];
    if (typeof result === 'object') return result;
    throw new Error(result);
  });
}

/** Compares what each call of a client returns with its sample. */
async function compare(
  { limits, otherValues }: Pick<Client, 'limits' | 'otherValues'>,
  calls: readonly Call[],
  call: (id: string) => Promise<Result>,
): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const { id, sample } of calls) {
    const limit = limits[id];
    const outcome = limit
      ? `no: ${limit}`
      : await call(id).then(
          async ([status, value]) => outcomeOf(sample, status, await normalized(value), otherValues[id]),
          (error: unknown) => `FAILED ${String(error)}`,
        );
    if (outcome.startsWith('FAILED')) failures += 1;
    outcomes[id] = outcome;
  }
  return outcomes;
}

/** Normalizes the value that a client returned: bytes to text, a stream of events to its first event, and empty values to `undefined`. */
async function normalized(value: unknown): Promise<unknown> {
  if (value instanceof Blob) return value.text();
  if (typeof value === 'string' && /^(?:id|data|event|retry|:)/.test(value)) {
    return JSON.parse(/^data: (.*)$/m.exec(value)?.[1] ?? 'null');
  }
  const isNothing = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isNothing || value === '' || value === null ? undefined : value;
}

function outcomeOf(
  sample: Sample,
  status: number | undefined,
  value: unknown,
  other: string | undefined,
): string {
  const isExpected = sample.status ? status === sample.status : /^2..$/.test(`${status}`);
  if (!isExpected) return `FAILED ${status} ${JSON.stringify(value)}`;
  if (other) return `${status}, another value: ${other}`;
  if (isDeepStrictEqual(value, sample.value)) return `${status}`;
  return `FAILED ${status} ${JSON.stringify(value)}, expected ${JSON.stringify(sample.value)}`;
}
