import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '../openApi.ts';
import { FileSample, type Sample } from './samples.ts';

export interface Call {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
  readonly sample: Sample;
}

/** A generator of clients in TypeScript. */
export interface Client {
  readonly name: string;
  /** Returns the command, which runs in `work`: of npm, or of PyPI if it begins with `python/`. May write a file of options. */
  generate(work: string, origin: string): Promise<readonly string[]>;
  /** Returns the source of a module that exports `calls`. */
  source(calls: readonly Call[], work: string, origin: string): Promise<string>;
  /** The reason why the client cannot call an operation, by operation. */
  readonly limits: Readonly<Record<string, string>>;
  /** The reason why the client returns another value, by operation. */
  readonly otherValues: Readonly<Record<string, string>>;
}

const eventsAsJson = 'it reads text/event-stream as one JSON value';
/** The subscriptions, for clients that wait for the end of a stream. */
const events = Object.fromEntries(
  [
    'credentials.notesRouter.ticks',
    'errors.subscribed.ticks',
    'standardSchema.arktypePets.watch',
    'standardSchema.valibotPets.watch',
  ].map((id) => [id, eventsAsJson]),
);
const authorization = 'Bearer good';

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
  return (id) => names.get(id.replaceAll(/[.-]/g, '').toLowerCase()) ?? 'missing';
}

const stringsOf = (headers: object = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const cookieHeader = (cookie: Sample['cookie']) =>
  cookie && {
    cookie: Object.entries(cookie)
      .map(([name, value]) => `${name}=${value}`)
      .join('; '),
  };

export const clients: readonly Client[] = [
  {
    name: 'openapi-fetch',
    generate: async () => ['openapi-typescript', 'openapi.json', '-o', 'paths.ts'],
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
            headers: isBytes ? { 'content-type': type } : cookieHeader(cookie),
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
    limits: {},
    otherValues: {},
  },
  {
    name: 'hey-api',
    generate: async () => ['openapi-ts', '-i', 'openapi.json', '-o', 'hey', '-s', '--no-log-file'],
    async source(calls, work, origin) {
      const functionName = await functionsOf(join(work, 'hey/sdk.gen.ts'));
      return moduleOf(
        `import { client } from './hey/client.gen';\nimport * as sdk from './hey/sdk.gen';\n${newFile('')}\nclient.setConfig(${sourceOf({ baseUrl: `${origin}/v1`, headers: { authorization } })});`,
        calls,
        ({ id, operation, sample: { path, query, headers, body, cookie } }) => {
          const options = sourceOf({ path, query, headers: cookieHeader(cookie) ?? headers, body });
          return isEvents(operation)
            ? `const { stream } = await sdk.${functionName(id)}(${options}); for await (const event of stream) return [200, event]; return [0, undefined];`
            : `const { response, data, error } = await sdk.${functionName(id)}(${options}); return [response?.status, data ?? error];`;
        },
      );
    },
    limits: {},
    otherValues: {},
  },
  {
    name: 'orval',
    async generate(work, origin) {
      const output = { target: 'orval.ts', client: 'fetch', baseUrl: `${origin}/v1` };
      const config = { api: { input: 'openapi.json', output } };
      await writeFile(join(work, 'orval.config.mjs'), `export default ${sourceOf(config)};`);
      return ['orval', '--config', 'orval.config.mjs'];
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
            { headers: { authorization, ...stringsOf(headers), ...chosen, ...cookieHeader(cookie) } },
          ];
          return `const { status, data } = await orval.${functionName(id)}(${values.map(sourceOf).join(', ')}); return [status, data];`;
        },
      );
    },
    limits: events,
    otherValues: {
      'outputs.exportRouter.pets': 'it returns text where one of the media types is not JSON',
    },
  },
  {
    name: 'openapi-generator',
    async generate() {
      const files = ['-g', 'typescript-fetch', '-i', 'openapi-3.1.json', '-o', 'generator'];
      // Without it, the parameters of an operation and a model may have the same name.
      const option = ['-p', 'prefixParameterInterfaces=true'];
      return ['python/openapi-generator-cli', 'generate', ...files, ...option];
    },
    async source(calls, work, origin) {
      // A class for each tag.
      const files = await readdir(join(work, 'generator/apis'));
      const classes = files.filter((file) => file !== 'index.ts').map((file) => file.replace('.ts', ''));
      const names = new Map<string, readonly [name: string, properties: readonly string[]]>();
      for (const each of classes) {
        const text = await readFile(join(work, `generator/apis/${each}.ts`), 'utf8');
        for (const [, name = '', type] of text.matchAll(
          /^ {4}async (\w+)Raw\((?:requestParameters: (\w+))?/gm,
        )) {
          const properties = type === undefined ? [] : propertiesOf(text, type);
          names.set(name.toLowerCase(), [`new sdk.${each}(configuration).${name}`, properties]);
        }
      }
      return moduleOf(
        `import * as sdk from './generator/index';\n${newFile('')}
const configuration = new sdk.Configuration({ basePath: ${JSON.stringify(`${origin}/v1`)}, accessToken: 'good' });
async function result(call: Promise<{ raw: Response; value(): Promise<unknown> }>) {
  try {
    const { raw, value } = await call.then((response) => ({ raw: response.raw, value: () => response.value() }));
    const received = await value();
    return [raw.status, received instanceof Blob ? received : JSON.parse(JSON.stringify(received ?? null))] as const;
  } catch (error) {
    if (error instanceof sdk.ResponseError) return [error.response.status, await error.response.json()] as const;
    throw error;
  }
}`,
        calls,
        ({ id, operation, sample: { path, query, headers, body } }) => {
          const [name, properties] = names.get(id.replaceAll('.', '').toLowerCase()) ?? ['missing', []];
          const values = Object.entries({ ...path, ...query, ...headers }).map(
            ([parameter, value]) => [propertyOf(properties, parameter), value] as const,
          );
          const isForm = Object.keys(operation.requestBody?.content ?? {})[0]?.includes('form') === true;
          const inBody = isForm
            ? Object.entries(body as object)
            : [
                [
                  properties.find((each) => !values.some(([used]) => used === each) && !has(operation, each)),
                  body,
                ],
              ];
          const all = Object.fromEntries(body === undefined ? values : [...values, ...(inBody as [])]);
          return `return result(${name}Raw(${properties.length > 0 ? `${sourceOf(all).replaceAll(isoDates, 'new Date($&)')} as never` : ''}));`;
        },
      );
    },
    limits: {
      'hooks.transformed.described': 'it leaves operations with x-internal out',
      'inputs.inCookies.look': 'it sends no cookies',
      'inputs.records.store': 'it writes a list of a union as an object',
      'standardSchema.forms.sign': 'it writes a list in a form as one value with commas',
      ...events,
    },
    otherValues: {},
  },
];

/** Date-times in source code. openapi-generator types them as `Date`. */
const isoDates = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

/** The properties of an interface in a generated module. */
const propertiesOf = (text: string, type: string): readonly string[] =>
  Array.from(
    (text.split(`export interface ${type} {`)[1]?.split('\n}')[0] ?? '').matchAll(/^ {4}(\w+)\??:/gm),
    ([, name = '']) => name,
  );

const letters = (name: string) => name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
const propertyOf = (properties: readonly string[], parameter: string) =>
  properties.find((each) => letters(each) === letters(parameter)) ?? parameter;
const has = (operation: Operation, property: string) =>
  operation.parameters?.some(({ name }) => letters(name) === letters(property)) === true;

const flatObjects = 'it writes the properties of an object in a query as parameters of their own';
const undescribedStatus = 'it returns nothing for a status that the document does not have';
const typeOfName = 'it sends the media type of the file’s name';
const invalidPython = (what: string) => `it writes invalid Python for ${what}`;

/** openapi-python-client. `pythonCalls.py` calls its client. */
export const pythonClient = {
  name: 'openapi-python-client',
  config: {
    content_type_overrides: {
      'image/png': 'application/octet-stream',
      'image/jpeg': 'application/octet-stream',
    },
  },
  limits: {
    'inputs.deepObjects.list': flatObjects,
    'inputs.inHeaders.list': 'it has no lists in headers',
    'inputs.pages.list': flatObjects,
    'inputs.restOfPath.key': 'it has no lists in paths',
    'inputs.scalars.set': invalidPython('an optional body of several scalar types'),
    'inputs.selfReferences.find': flatObjects,
    'outputs.travelling.visit':
      'it writes a date-time with the offset +00:00, which z.iso.datetime() does not accept',
    'uploads.photos.photo': invalidPython('a body of several media types'),
    'standardSchema.arktypePets.find': flatObjects,
    'standardSchema.forms.sign': invalidPython('a body of several media types'),
    'standardSchema.valibotPets.find': flatObjects,
    ...events,
  },
  otherValues: {
    'errors.shopRouter.undeclared': undescribedStatus,
    'errors.undescribedFormatter.a': undescribedStatus,
    'hooks.hooked.conflict': undescribedStatus,
    'uploads.spooledAlbum.add': typeOfName,
  },
} satisfies Pick<Client, 'name' | 'limits' | 'otherValues'> & Record<string, unknown>;
