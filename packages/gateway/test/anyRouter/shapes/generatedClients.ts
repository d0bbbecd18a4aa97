import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { serve } from '@petstore/gateway/uws';
import type { OpenApiDocument, Operation } from '../../openApi.ts';
import { createComposed } from './composed.ts';
import { endless, type Sample, samples } from './samples.ts';

/**
 * `generatedClients.ts FOLDER`: generates clients of the composed router by openapi-typescript, hey-api and orval, which
 * are installed in FOLDER, compiles each under `strict`, and calls every operation of a gateway that runs. It prints a
 * line for each operation, and exits with 1 where a response has another status than `samples.ts` expects. Operations in
 * `limits` are not called by that client; the table has the reason.
 */

interface Call {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
  readonly sample: Sample;
}

interface Client {
  readonly name: string;
  /** The command line of the generator, and its options as a file where it has no other way. */
  generate(work: string, origin: string): Promise<readonly string[]>;
  /** The source of a module that exports `calls`. */
  source(calls: readonly Call[], work: string, origin: string): Promise<string>;
  /** What the generator cannot do, by operation. */
  readonly limits: Readonly<Record<string, string>>;
}

const authorization = 'Bearer good';
const oneLevel =
  'it writes arrays and objects in a query of one level; OpenAPI does not say how deeper ones are written';

/** The properties that are present, as source text. */
const source = (value: object): string => JSON.stringify(value);

const moduleOf = (imports: string, calls: readonly Call[], call: (call: Call) => string) =>
  `${imports}\nexport const calls: Record<string, () => Promise<number>> = {\n${calls
    .map((each) => `${JSON.stringify(each.id)}: async () => {${call(each)}},\n`)
    .join('')}};\n`;

/** The functions of a generated module by their names in lower case: generators differ in the case of acronyms. */
async function functionsOf(file: string): Promise<(id: string) => string> {
  const text = await readFile(file, 'utf8');
  const names = new Map(
    Array.from(text.matchAll(/^export const (\w+) =/gm), ([, name = '']) => [name.toLowerCase(), name]),
  );
  return (id) => names.get(id.replaceAll('.', '').toLowerCase()) ?? 'missing';
}

const stringsOf = (headers: object = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const cookieHeader = (cookie: object) =>
  Object.entries(cookie)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join('; ');

const clients: readonly Client[] = [
  {
    name: 'openapi-fetch',
    generate: async (work) => [
      'openapi-typescript',
      join(work, 'openapi.json'),
      '-o',
      join(work, 'paths.ts'),
    ],
    source: async (calls, _work, origin) =>
      moduleOf(
        `import createClient from 'openapi-fetch';\nimport type { paths } from './paths.ts';\nconst client = createClient<paths>(${source({ baseUrl: `${origin}/v1`, headers: { authorization } })});`,
        calls,
        ({ path, method, sample: { path: inPath, query, headers, cookie, body } }) =>
          `const { response } = await client.${method}(${JSON.stringify(path)}, ${source({
            params: { path: inPath, query, header: headers, cookie },
            body,
            headers: cookie && { cookie: cookieHeader(cookie) },
            parseAs: 'text',
          })}); return response.status;`,
      ),
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'inputs.queryMethod.find': 'openapi-typescript 7 leaves `query` of OpenAPI 3.2 out',
    },
  },
  {
    name: 'hey-api',
    generate: async (work) => [
      'openapi-ts',
      '-i',
      join(work, 'openapi.json'),
      '-o',
      join(work, 'hey'),
      '-s',
      '--no-log-file',
    ],
    async source(calls, work, origin) {
      const named = await functionsOf(join(work, 'hey/sdk.gen.ts'));
      return moduleOf(
        `import { client } from './hey/client.gen';\nimport * as sdk from './hey/sdk.gen';\nclient.setConfig(${source({ baseUrl: `${origin}/v1`, headers: { authorization } })});`,
        calls,
        ({ id, operation, sample: { path, query, headers, body, cookie } }) => {
          const isStream = 'text/event-stream' in (operation.responses['200']?.content ?? {});
          const options = source({
            path,
            query,
            headers: cookie ? { cookie: cookieHeader(cookie) } : headers,
            body,
            ...(!isStream && { parseAs: 'text' }),
          });
          return isStream
            ? `const { stream } = await sdk.${named(id)}(${options}); for await (const _ of stream) return 200; return 0;`
            : `const { response } = await sdk.${named(id)}(${options}); return response?.status ?? 0;`;
        },
      );
    },
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'inputs.queryMethod.find': 'hey-api 0.99 leaves `query` of OpenAPI 3.2 out',
    },
  },
  {
    name: 'orval',
    async generate(work, origin) {
      const output = {
        target: join(work, 'orval.ts'),
        client: 'fetch',
        baseUrl: `${origin}/v1`,
      };
      const config = { api: { input: join(work, 'openapi.json'), output } };
      await writeFile(join(work, 'orval.config.mjs'), `export default ${source(config)};`);
      return ['orval', '--config', join(work, 'orval.config.mjs')];
    },
    async source(calls, work) {
      const named = await functionsOf(join(work, 'orval.ts'));
      return moduleOf(
        `import * as orval from './orval.ts';`,
        calls,
        ({ id, operation, sample: { path = {}, query, headers, body, cookie } }) => {
          const has = (place: string) => operation.parameters?.some((each) => each.in === place) === true;
          const inPath = operation.parameters?.filter((each) => each.in === 'path') ?? [];
          // Of several media types it leaves the choice to the caller.
          const [type, ...others] = Object.keys(operation.requestBody?.content ?? {});
          const chosen = others.length > 0 && { 'content-type': type };
          const values: unknown[] = [
            ...inPath.map(({ name }) => path[name]),
            ...(operation.requestBody ? [body] : []),
            ...(has('query') ? [query] : []),
            {
              headers: {
                authorization,
                ...stringsOf(headers),
                ...chosen,
                ...(cookie && { cookie: cookieHeader(cookie) }),
              },
            },
          ];
          const args = values.map((value) => (value === undefined ? 'undefined' : JSON.stringify(value)));
          return `const { status } = await orval.${named(id)}(${args.join(', ')}); return status;`;
        },
      );
    },
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'errors.subscribed.ticks': 'it reads text/event-stream as one JSON value',
    },
  },
];

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const run = promisify(execFile);
const print = (cells: readonly string[]) => process.stdout.write(`${cells.join(' | ')}\n`);
const generators = process.argv[2];
if (generators === undefined) throw new Error('Name the folder where the generators are installed.');

const gateway = await createComposed('3.2');
const server = await serve(gateway, { port: 0 });
const origin = `http://127.0.0.1:${server.port}`;
const work = await mkdtemp(join(tmpdir(), 'clients-'));
let failures = 0;

try {
  const document = (await gateway.document()) as unknown as OpenApiDocument;
  await writeFile(join(work, 'openapi.json'), JSON.stringify(document));
  await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): Call[] => {
      const id = operation.operationId ?? '';
      if (endless.includes(id)) return [];
      const sample = samples[id];
      if (!sample) throw new Error(`samples.ts has no call of ${id}.`);
      return [{ id, path, method: method.toUpperCase(), operation, sample }];
    }),
  );
  const outcomes = await Promise.all(clients.map((client) => outcomesOf(client, calls)));
  print(['operation', ...clients.map(({ name }) => name)]);
  for (const { id } of calls) print([id, ...outcomes.map((outcome) => outcome[id] ?? '')]);
} finally {
  await rm(work, { recursive: true });
  await server.close({ deadlineMs: 0 });
}
print([`${failures} failed`]);
if (failures > 0) process.exitCode = 1;

async function outcomesOf(client: Client, calls: readonly Call[]): Promise<Record<string, string>> {
  const [command = '', ...args] = await client.generate(work, origin);
  await run(join(generators as string, 'node_modules/.bin', command), args, { cwd: work });
  const possible = calls.filter(({ id }) => !(id in client.limits));
  const file = join(work, `${client.name}.calls.ts`);
  await writeFile(file, await client.source(possible, work, origin));
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
  const target = [
    '--target',
    'es2023',
    '--module',
    'preserve',
    '--lib',
    'es2023,dom,dom.iterable,dom.asynciterable',
  ];
  await run(join(root, 'node_modules/.bin/tsc'), [...strict, ...target, file], { cwd: work }).catch(
    (error: { stdout: string }) => {
      throw new Error(`The client of ${client.name} does not compile:\n${error.stdout}`);
    },
  );
  const bundle = join(work, `${client.name}.calls.mjs`);
  const bundling = [file, '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`];
  await run(join(root, 'node_modules/.bin/esbuild'), bundling);
  const module = (await import(pathToFileURL(bundle).href)) as {
    calls: Record<string, () => Promise<number>>;
  };
  const outcomes: Record<string, string> = {};
  for (const { id, sample } of calls) {
    const limit = client.limits[id];
    const status = limit ? 0 : await module.calls[id]?.().catch((error: unknown) => String(error));
    const isOk = sample.status
      ? status === sample.status
      : typeof status === 'number' && /^2..$/.test(`${status}`);
    if (!limit && !isOk) failures += 1;
    outcomes[id] = limit ? `no: ${limit}` : isOk ? String(status) : `FAILED ${status}`;
  }
  return outcomes;
}
