import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterAll, describe, expect, it } from 'vitest';
import { typesCommand } from '../typesCommand.ts';
import { readOutputs } from './readOutputs.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const file = pathOf('testing/routers.ts');
const project = pathOf('../../tsconfig.json');
const folder = await temporaryFolder(afterAll);
const read = (name: string) => readOutputs({ file, name });

/** The module of a router with these procedures, of which each is `name: Query<Output>`. */
const moduleOf = (imports: string, procedures: string) => `${imports}
interface QueryProcedure<Definition> { _def: Definition }
type Query<Output> = QueryProcedure<{ output: Output }>;
export declare const appRouter: { _def: { record: { ${procedures} } } };`;

async function writeFiles(at: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(at, path)), { recursive: true });
    await writeFile(join(at, path), text);
  }
}

describe('trpc-gateway-typegen outputs', () => {
  it('writes types of the program once, with their names and comments', async () => {
    const pet = { $ref: '#/$defs/Pet' };
    expect((await read('namedRouter')).outputs).toEqual({
      version: 1,
      procedures: { page: { $ref: '#/$defs/Page_Pet' }, pet },
      $defs: {
        Page_Pet: {
          type: 'object',
          properties: { items: { type: 'array', items: pet } },
          required: ['items'],
        },
        Pet: {
          type: 'object',
          description: 'An animal.',
          properties: {
            id: { type: 'number' },
            name: { type: 'string', description: 'As its owner calls it.' },
          },
          required: ['id', 'name'],
        },
      },
    });
  });

  it('says which parts it leaves open, and why', async () => {
    expect(
      (await read('openRouter')).open.map((line) =>
        line.replace(
          /(?:\.next|\.toJSON\(\))+/,
          (path) => `${path.slice(0, path.startsWith('.n') ? 5 : 9)}…`,
        ),
      ),
    ).toEqual([
      'any: the output is any',
      'missing: the output is of a type that the compiler does not find, as tsc says too',
      'unknown: .list[] is unknown',
      'union: .rest is unknown',
      'iterable: the output is of the class Iterable, which JSON does not have',
      'set: .all is of the class ReadonlySet, which JSON does not have',
      'empty: .value is {}',
      'itself: .toJSON()… is nested too deeply',
      'bigint: .size is a bigint, which JSON does not have',
      'map: .byName is of the class Map, which JSON does not have',
      'bytes: the output is of the class Uint8Array, which JSON does not have',
      'error: the output is of the class NotFoundError, which JSON does not have',
      'object: the output is any object',
      'endless: .next… is nested too deeply',
    ]);
  });

  it('says of which parts of a router it does not know the procedures', async () => {
    expect((await read('unreadRouter')).open).toEqual([
      'missing: left out, since the compiler does not find its type, as tsc says too',
      'any: left out, since it is any',
      'inner.named: may have procedures that its type does not name',
    ]);
    expect((await read('looseRouter')).open).toEqual(['the router: left out, since it is any']);
  });

  it('takes a File of a package for what the package declares', async () => {
    await writeFiles(folder, {
      'node_modules/sdk/index.d.ts':
        'export interface File {\r\n/** In bytes,\r\n * rounded. */\r\nsize: number }',
      'router.ts': moduleOf("import type { File } from 'sdk';", 'file: Query<File>'),
    });
    const { open, outputs } = await readOutputs({ file: join(folder, 'router.ts') });
    expect(open).toEqual([]);
    expect(outputs.procedures['file']).toMatchObject({
      properties: { size: { type: 'number', description: 'In bytes,\nrounded.' } },
    });
  });

  it.each([
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, '~/owner'],
    ['nodenext', { module: 'nodenext' }, '~/owner.js'],
  ])(
    'reads a project with references and paths that resolves modules as %s, although nothing is built',
    async (name, options, owner) => {
      const root = join(folder, name);
      await writeFiles(root, {
        'models/package.json': '{ "name": "@shop/models", "type": "module", "exports": "./lib/pet.js" }',
        'models/src/pet.ts': 'export interface Pet { tags: Tag[] }\nexport interface Tag { name: string }',
        'models/tsconfig.json': JSON.stringify({
          compilerOptions: { composite: true, rootDir: 'src', outDir: 'lib', module: 'nodenext', types: [] },
        }),
        'api/src/owner.ts': 'export interface Owner { name: string }',
        'api/src/router.ts': moduleOf(
          `import type { Pet } from '@shop/models';\nimport type { Owner } from '${owner}';`,
          'pet: Query<Pet>; owner: Query<Owner>',
        ),
        'api/tsconfig.json': JSON.stringify({
          compilerOptions: { ...options, strict: true, types: [], paths: { '~/*': ['./src/*'] } },
          references: [{ path: '../models' }],
        }),
      });
      await mkdir(join(root, 'node_modules/@shop'), { recursive: true });
      await symlink(join(root, 'models'), join(root, 'node_modules/@shop/models'), 'junction');
      const { open, outputs } = await readOutputs({ file: join(root, 'api/src/router.ts') });
      expect(open).toEqual([]);
      expect(Object.keys(outputs.$defs)).toEqual(['Owner', 'Pet', 'Tag']);
    },
  );

  it('names a recursive type of a package by its own name, or by the property that leads to it', async () => {
    await writeFiles(folder, {
      'node_modules/recursive/index.d.ts': `export interface Tree<Value> { value: Value; next?: Tree<Value> }
      export interface Board { cell: { neighbours: Board['cell'][] } }`,
      'recursive.ts': moduleOf(
        "import type { Board, Tree } from 'recursive';",
        'board: Query<Board>; tree: Query<Tree<string>>',
      ),
    });
    const { outputs } = await readOutputs({ file: join(folder, 'recursive.ts') });
    expect(Object.keys(outputs.$defs)).toEqual(['Neighbours', 'Tree']);
  });

  it('says in one sentence why the thread of the compiler has failed', async () => {
    await expect(readOutputs({ file: 1 as never })).rejects.toThrow(
      /^The types of 1 cannot be read: The "paths\[0\]" argument must be of type string[^\n]*$/,
    );
  });

  it('reads what each event of a subscription is', async () => {
    expect((await read('eventRouter')).outputs.procedures).toEqual({
      observable: { type: 'string' },
      mixed: { anyOf: [{ const: 2 }, { type: 'string' }] },
      plain: { type: 'number' },
      tracked: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
    });
  });

  it('reads lazy and merged routers', async () => {
    expect(Object.keys((await read('lazyRouter')).outputs.procedures)).toEqual([
      'later.page',
      'later.pet',
      'merged.one',
      'merged.page',
      'merged.pet',
    ]);
  });

  it('reads a router of which only the type is exported', async () => {
    expect((await read('MadeRouter')).outputs.procedures).toEqual({ one: { const: 1 } });
  });

  it('writes a file, and --check compares its content, however it is formatted', async () => {
    const out = join(folder, 'outputs.json');
    const command = ['outputs', '--router', file, '--export', 'namedRouter', '--out', out];
    await writeFile(out, '{}');
    expect(await typesCommand([...command, '--check'])).toMatchObject({ code: 1 });
    await typesCommand(command);
    const written = JSON.parse(await readFile(out, 'utf8')) as object;
    expect(written).toEqual((await read('namedRouter')).outputs);
    await writeFile(out, JSON.stringify(written));
    expect(await typesCommand([...command, '--check'])).toEqual({ code: 0 });
  });

  it('says what is wrong with its arguments', async () => {
    const errorOf = async (...argv: readonly string[]) => (await typesCommand(['outputs', ...argv])).stderr;
    const choice =
      'Choose one of namedRouter, openRouter, keywordRouter, descriptionRouter, eventRouter, lazyRouter, unreadRouter, looseRouter, MadeRouter with --export.';
    expect(await errorOf('--router', file)).toBe(`${file} exports several routers. ${choice}\n`);
    expect(await errorOf('--router', file, '--export', 'other')).toBe(
      `${file} exports no tRPC router named other. ${choice}\n`,
    );
    expect(await errorOf('--router', project)).toBe(
      `${project} exports no tRPC router. Name the module that exports what t.router({ … }) returns.\n`,
    );
    expect(await errorOf('--router', file, '--project', project)).toMatch(
      /^The project .*tsconfig\.json does not include .*routers\.ts\. Name another one with --project\.\n$/,
    );
    expect(await errorOf('--router', '/none.ts')).toBe(
      '/none.ts does not exist. Name the module by its path.\n',
    );
  });

  it('warns of a project whose types do not tell null from other values', async () => {
    const loose = join(folder, 'tsconfig.json');
    const config = { compilerOptions: { strict: false, module: 'nodenext', types: [] }, files: [file] };
    await writeFile(loose, JSON.stringify(config));
    expect((await readOutputs({ file, name: 'namedRouter', project: loose })).open).toEqual([
      'null in every output, since the project has no strictNullChecks: set strict in its tsconfig.json',
    ]);
  });
});
