import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('.', import.meta.url));
const repository = join(source, '../../..');

/** The folders from the bottom up. A folder imports its own files and those of the folders before it. */
const order = [
  'http',
  'checks',
  'schemas',
  'procedures',
  'calls',
  'operations',
  'state',
  'auth',
  'auth/schemes',
  'policies',
  'openapi',
  'protocols',
  'protocols/rest',
  'protocols/trpc',
  'protocols/mcp',
  'adapters/serve',
  'adapters/fetch',
  'adapters/node',
  'adapters/uws',
  'adapters/bun',
  'adapters',
  'client',
  'assembly',
  '.',
  'trpcToOpenApi',
  'command',
  'testing',
];

/** The folders below a folder, but some. */
const below = (folder: string, ...but: readonly string[]) =>
  order.slice(0, order.indexOf(folder)).filter((each) => !but.includes(each));

/** Folders whose users or whose dependencies are fewer than their place in the order allows. `.` has the entry points. */
const limited: Readonly<Record<string, readonly string[]>> = {
  operations: below('calls'),
  state: below('calls', 'schemas'),
  'protocols/trpc': below('protocols/rest', 'checks', 'schemas', 'operations', 'auth/schemes', 'openapi'),
  'protocols/mcp': below('protocols/rest', 'auth/schemes', 'openapi'),
  'adapters/serve': ['http', 'checks'],
  'adapters/fetch': ['http', 'adapters/serve'],
  'adapters/node': ['http', 'adapters/serve'],
  'adapters/uws': ['http', 'checks', 'adapters/serve'],
  'adapters/bun': ['http', 'checks', 'adapters/serve'],
  client: ['http'],
  // `protocols/mcp` is an entry point of its own, which nothing loads unless it is passed as an option.
  assembly: below('protocols/mcp'),
  '.': [...below('protocols/mcp'), 'adapters/fetch', 'assembly'],
  trpcToOpenApi: [...below('calls'), 'operations', 'openapi', 'protocols', 'assembly', '.'],
};
const isForbidden = (from: string, to: string) => from !== to && !(limited[from] ?? below(from)).includes(to);

const folders = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !join(entry.parentPath, entry.name).includes('testing'))
  .map((entry) => relative(source, join(entry.parentPath, entry.name)));

/** Files other than tests, relative to `src`. Those of `testing` folders are not published. */
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file),
);
const published = files.filter((file) => !/(^|\/)testing\//.test(file));

/** The folder of a file, or the one for whose tests it is a tool. */
const placeOf = (file: string) => dirname(file).replace(/\/testing$/, '');

const textOf = (file: string) => readFileSync(join(source, file), 'utf8');

/** Returns the files of `src` that a file imports by value or by type, relative to `src`. */
function importsOf(file: string): readonly string[] {
  const text = textOf(file).replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const imports = text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...imports].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('packages/gateway/src', () => {
  it('every folder of src has a place in the order', () => {
    const withFiles = [...new Set(files.map(placeOf))];
    expect(withFiles.toSorted()).toEqual(order.toSorted());
  });

  it('files import only from their own folder and from the folders before it, types included', () => {
    const forbidden = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => isForbidden(placeOf(file), placeOf(target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('only the scheme jwt imports the optional peer jose, and nothing imports the scheme', () => {
    const jwt = 'auth/schemes/jwt.ts';
    expect(published.filter((file) => /from 'jose'/.test(textOf(file)))).toEqual([jwt]);
    expect([...imports].filter(([, targets]) => targets.includes(jwt))).toEqual([]);
  });

  it('no published file starts a program, or runs text as code', () => {
    const runs = /node:(?:child_process|vm)'|\beval\(|\bnew Function\(/;
    expect(published.filter((file) => runs.test(textOf(file)))).toEqual([]);
  });

  it('docs/architecture.md shows every folder and names only files that exist', () => {
    const text = readFileSync(join(repository, 'docs/architecture.md'), 'utf8');
    const named = [...text.matchAll(/`([\w/]+\.ts)`/g)].map(([, file = '']) => file);
    // The page names files relative to the repository, to this package, to the runtime or to what processes share.
    const sources = ['packages/runtime/src', 'packages/shared/src'].map((path) => join(repository, path));
    const roots = [repository, source, ...sources];
    expect(named.filter((file) => !roots.some((at) => existsSync(join(at, file))))).toEqual([]);
    const [, picture = ''] = text.split('```');
    expect(folders.filter((folder) => !picture.includes(`${basename(folder)}/`))).toEqual([]);
  });
});
