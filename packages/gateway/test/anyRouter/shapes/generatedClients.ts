import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { serve } from '@petstore/gateway/uws';
import type { OpenApiDocument, Operation } from '../../openApi.ts';
import { createComposed } from './composed.ts';
import { FileSample, type Sample, samples } from './samples.ts';

/**
 * `generatedClients.ts FOLDER`: generates clients of the composed router by openapi-typescript, hey-api and orval, which
 * are installed in FOLDER, compiles each with `strict`, and calls every operation of a running gateway. It prints a line for each
 * operation, and exits with 1 if a client returns another status or value than `samples.ts` expects. A client does not call the
 * operations in its `limits`, and values in `otherValues` are not compared. Both maps give the reason.
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
  /** The command line of the generator. Writes a file of options if the generator needs one. */
  generate(work: string, origin: string): Promise<readonly string[]>;
  /** Returns the source of a module that exports `calls`. */
  source(calls: readonly Call[], work: string, origin: string): Promise<string>;
  /** The reason why the client cannot call an operation, by operation. */
  readonly limits: Readonly<Record<string, string>>;
  /** The reason why the client returns another value, by operation. */
  readonly otherValues: Readonly<Record<string, string>>;
}

const queryMethod = 'it leaves `query` of OpenAPI 3.2 out';
const eventsAsJson = 'it reads text/event-stream as one JSON value';
const authorization = 'Bearer good';
const oneLevel =
  'it writes arrays and objects in a query of one level; OpenAPI does not say how deeper ones are written';

/** A value as source code, without properties that are `undefined`. Files are calls of the module's function `file`. */
function sourceOf(value: unknown): string {
  if (value instanceof FileSample)
    return `file(${JSON.stringify(value.text)}, ${JSON.stringify(value.name)})`;
  if (Array.isArray(value)) return `[${value.map(sourceOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${present.map(([name, member]) => `${JSON.stringify(name)}: ${sourceOf(member)}`).join(', ')}}`;
}

const form = 'multipart/form-data';
const newFile = (type: string) =>
  `const file = (text: string, name: string) => new File([text], name)${type};`;

/** The first media type of the 2xx response. */
function successType({ responses }: Operation): string {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return Object.keys(success?.content ?? {})[0] ?? '';
}
const isEvents = (operation: Operation) => successType(operation) === 'text/event-stream';

const moduleOf = (imports: string, calls: readonly Call[], call: (call: Call) => string) =>
  `${imports}\nexport const calls: Record<string, () => Promise<readonly [status: number | undefined, value: unknown]>> = {\n${calls
    .map((each) => `${JSON.stringify(each.id)}: async () => {${call(each)}},\n`)
    .join('')}};\n`;

/** Finds the function of an operation in a generated module, ignoring case, because generators write acronyms differently. */
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
        `import createClient from 'openapi-fetch';\nimport type { paths } from './paths.ts';\n${newFile(' as unknown as string')}
const client = createClient<paths>(${sourceOf({ baseUrl: `${origin}/v1`, headers: { authorization } })});
const formOf = (body: object) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) for (const each of [value].flat()) form.append(name, each);
  return form;
};
async function firstOf(stream?: ReadableStream<Uint8Array> | null) {
  for await (const chunk of stream ?? []) return new TextDecoder().decode(chunk);
  return undefined;
}`,
        calls,
        ({ path, method, operation, sample: { path: inPath, query, headers, cookie, body } }) => {
          const [type = ''] = Object.keys(operation.requestBody?.content ?? {});
          const isBytes = body instanceof FileSample;
          const options = sourceOf({
            params: { path: inPath, query, header: headers, cookie },
            body,
            headers: isBytes ? { 'content-type': type } : cookie && { cookie: cookieHeader(cookie) },
            parseAs: isEvents(operation)
              ? 'stream'
              : successType(operation).includes('json')
                ? undefined
                : 'text',
          });
          const serializer = isBytes ? '(bytes) => bytes' : type === form ? 'formOf' : undefined;
          const extended = serializer ? `{...${options}, bodySerializer: ${serializer}}` : options;
          const value = isEvents(operation) ? 'await firstOf(data)' : 'data ?? error';
          return `const { response, data, error } = await client.${method}(${JSON.stringify(path)}, ${extended}); return [response.status, ${value}];`;
        },
      ),
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'inputs.queryMethod.find': queryMethod,
      'hooks.transformed.queried': queryMethod,
    },
    otherValues: {},
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
      const functionName = await functionsOf(join(work, 'hey/sdk.gen.ts'));
      return moduleOf(
        `import { client } from './hey/client.gen';\nimport * as sdk from './hey/sdk.gen';\n${newFile('')}\nclient.setConfig(${sourceOf({ baseUrl: `${origin}/v1`, headers: { authorization } })});`,
        calls,
        ({ id, operation, sample: { path, query, headers, body, cookie } }) => {
          const options = sourceOf({
            path,
            query,
            headers: cookie ? { cookie: cookieHeader(cookie) } : headers,
            body,
          });
          return isEvents(operation)
            ? `const { stream } = await sdk.${functionName(id)}(${options}); for await (const event of stream) return [200, event]; return [0, undefined];`
            : `const { response, data, error } = await sdk.${functionName(id)}(${options}); return [response?.status, data ?? error];`;
        },
      );
    },
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'inputs.queryMethod.find': queryMethod,
      'hooks.transformed.queried': queryMethod,
    },
    otherValues: {},
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
      await writeFile(join(work, 'orval.config.mjs'), `export default ${sourceOf(config)};`);
      return ['orval', '--config', join(work, 'orval.config.mjs')];
    },
    async source(calls, work) {
      const functionName = await functionsOf(join(work, 'orval.ts'));
      return moduleOf(
        `import * as orval from './orval.ts';\n${newFile('')}`,
        calls,
        ({ id, operation, sample: { path = {}, query, headers, body, cookie } }) => {
          const has = (place: string) => operation.parameters?.some((each) => each.in === place) === true;
          const inPath = operation.parameters?.filter((each) => each.in === 'path') ?? [];
          // If a body has several media types, orval writes JSON and leaves the header to the caller.
          const types = Object.keys(operation.requestBody?.content ?? {});
          const isChosen = types.length > 1 && types.includes('application/json');
          const chosen = isChosen && { 'content-type': 'application/json' };
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
          return `const { status, data } = await orval.${functionName(id)}(${values.map(sourceOf).join(', ')}); return [status, data];`;
        },
      );
    },
    limits: {
      'inputs.arraysOfObjects.rooms': oneLevel,
      'credentials.notesRouter.ticks': eventsAsJson,
      'errors.subscribed.ticks': eventsAsJson,
      'hooks.hooked.ticks': eventsAsJson,
      'standardSchema.arktypePets.watch': eventsAsJson,
      'standardSchema.valibotPets.watch': eventsAsJson,
    },
    otherValues: {
      'outputs.exportRouter.pets': 'it returns text where one of the media types is not JSON',
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
    calls: Record<string, () => Promise<readonly [status: number | undefined, value: unknown]>>;
  };
  const outcomes: Record<string, string> = {};
  for (const { id, sample } of calls) {
    const limit = client.limits[id];
    const outcome = limit
      ? `no: ${limit}`
      : await (module.calls[id]?.() ?? Promise.reject(new Error('missing'))).then(
          async ([status, value]) =>
            outcomeOf(sample, status, await normalized(value), client.otherValues[id]),
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
