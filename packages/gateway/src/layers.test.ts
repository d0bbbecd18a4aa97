import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const source = fileURLToPath(new URL('.', import.meta.url));
const repository = join(source, '../../..');

/** Folders that the files of a folder may import, besides their own folder. `.` contains the entry points. */
const layers: Readonly<Record<string, readonly string[]>> = {
  http: [],
  procedures: ['http'],
  policies: ['http', 'procedures'],
  'policies/schemes': ['http', 'procedures', 'policies'],
  openapi: ['http', 'procedures', 'policies'],
  protocols: ['http', 'procedures', 'policies', 'openapi'],
  'protocols/rest': ['http', 'procedures', 'policies', 'openapi', 'protocols'],
  'protocols/trpc': ['http', 'procedures', 'policies', 'openapi', 'protocols'],
  client: ['http'],
  adapters: ['http'],
  'adapters/server': ['http', 'adapters'],
  'adapters/fetch': ['http', 'adapters', 'adapters/server'],
  'adapters/node': ['http', 'adapters', 'adapters/server'],
  'adapters/uws': ['http', 'adapters', 'adapters/server'],
  '.': [
    'http',
    'procedures',
    'policies',
    'policies/schemes',
    'openapi',
    'protocols',
    'protocols/rest',
    'protocols/trpc',
    'adapters/fetch',
  ],
};

const folders = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !join(entry.parentPath, entry.name).includes('testing'))
  .map((entry) => relative(source, join(entry.parentPath, entry.name)));

/** Published files, relative to `src`. */
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$|(^|\/)testing\//.test(file),
);

/** Returns the files of `src` that a file imports by value or by type, relative to `src`. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const imports = text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...imports].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('packages/gateway/src', () => {
  it('every folder of src has a layer', () => {
    expect(folders.filter((folder) => layers[folder] === undefined)).toEqual([]);
    expect(Object.keys(layers).filter((layer) => layer !== '.' && !folders.includes(layer))).toEqual([]);
  });

  it('files import only from lower layers and from their own folder, types included', () => {
    const isAllowed = (from: string, to: string) => from === to || layers[from]?.includes(to);
    const forbidden = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => !isAllowed(dirname(file), dirname(target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('src has no import cycles, types included', () => {
    expect(findCycles(imports)).toEqual([]);
  });

  it('no file imports the document generator eagerly, since it takes 20 MB', () => {
    const eager = files.filter((file) =>
      /^(?!(?:import|export) type\b).*\bfrom '[^']*\/document\.ts'/m.test(
        readFileSync(join(source, file), 'utf8'),
      ),
    );
    expect(eager).toEqual([]);
  });

  it('only the files of the scheme jwt import the optional peer jose', () => {
    const text = (file: string) => readFileSync(join(source, file), 'utf8');
    const users = files.filter((file) => /from 'jose'/.test(text(file)));
    expect(users.toSorted()).toEqual(['policies/schemes/jwt.ts', 'policies/schemes/keySet.ts']);
    expect([...imports].filter(([, targets]) => targets.some((to) => users.includes(to)))).toEqual([
      ['policies/schemes/jwt.ts', expect.arrayContaining(['policies/schemes/keySet.ts'])],
    ]);
  });

  it('docs/architecture.md shows every folder and names only files that exist', () => {
    const text = readFileSync(join(repository, 'docs/architecture.md'), 'utf8');
    const named = [...text.matchAll(/`([\w/]+\.ts)`/g)].map(([, file = '']) => file);
    // The page names files relative to the repository, to this package or to the runtime.
    const roots = [repository, source, join(repository, 'packages/runtime/src')];
    expect(named.filter((file) => !roots.some((at) => existsSync(join(at, file))))).toEqual([]);
    const [, picture = ''] = text.split('```');
    expect(folders.filter((folder) => !picture.includes(`${basename(folder)}/`))).toEqual([]);
  });

  it('the lint rules of the folders reject exactly the imports that the layers forbid', () => {
    const folder = mkdtempSync(join(tmpdir(), 'layers-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    const seeded = 'packages/gateway/src';
    const expected = Object.entries(layers).flatMap(([from, allowed]) => {
      const targets = Object.keys(layers).filter((to) => to !== from);
      const lines = targets.map((to) => {
        const target = join(to, to === '.' ? 'gateway.ts' : 'seeded.ts');
        const path = relative(from, target);
        return `export type * from '${path.startsWith('.') ? path : `./${path}`}';\n`;
      });
      write(join(seeded, from, 'seeded.ts'), lines.join(''));
      return targets.flatMap((to, line) =>
        allowed.includes(to) || (from === '.' && to === '.') ? [] : [`${from} -> ${to} (line ${line + 1})`],
      );
    });
    write('.oxlintrc.json', readFileSync(join(repository, '.oxlintrc.json'), 'utf8'));
    const { diagnostics } = JSON.parse(lint(folder)) as {
      readonly diagnostics: readonly {
        readonly code: string;
        readonly filename: string;
        readonly labels: readonly { readonly span: { readonly line: number } }[];
      }[];
    };
    const rejected = diagnostics
      .filter(({ code }) => code === 'eslint(no-restricted-imports)')
      .map(({ filename, labels: [label] }) => {
        const from = relative(seeded, dirname(filename)) || '.';
        const line = label?.span.line ?? 0;
        return `${from} -> ${Object.keys(layers).filter((to) => to !== from)[line - 1]} (line ${line})`;
      });
    expect(rejected.toSorted()).toEqual(expected.toSorted());
  });
});

/** Returns the output of oxlint for a folder with problems, for which oxlint exits with an error. */
function lint(folder: string): string {
  try {
    return execFileSync(join(repository, 'node_modules/.bin/oxlint'), ['--format=json'], {
      cwd: folder,
      encoding: 'utf8',
    });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

/** Returns the import cycles, in the form `a.ts -> b.ts -> a.ts`. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const importCycles: string[] = [];
  const visited = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) importCycles.push([...path.slice(start), file].join(' -> '));
    if (start !== -1 || visited.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    visited.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return importCycles;
}
