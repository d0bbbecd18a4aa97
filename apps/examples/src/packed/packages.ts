import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The packages that are published. */
export const published = ['gateway', 'runtime', 'typegen', 'core', 'types'] as const;
type Published = (typeof published)[number];

/** What `npm publish` would send, one file each, and the folder that they are in. */
export interface Packed {
  readonly folder: string;
  readonly tarballs: Readonly<Record<Published, string>>;
  /** The paths in each, without `package/`. */
  readonly files: Readonly<Record<Published, readonly string[]>>;
}

/** Packs what is published, each built before by its own `prepack`. Whoever calls removes the folder. */
export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const workspaces = published.flatMap((name) => ['--workspace', `@petstore/${name}`]);
  const { stdout } = await npm(root, 'pack', '--json', '--pack-destination', folder, ...workspaces);
  // What a `prepack` prints comes first.
  const told = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as unknown;
  // npm 12 names the packages where npm 11 lists them.
  const packages = Object.values(told as object) as readonly {
    readonly name: string;
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  const each = <Value>(value: (found: (typeof packages)[number]) => Value) =>
    Object.fromEntries(
      packages.map((found) => [found.name.replace('@petstore/', ''), value(found)]),
    ) as Record<Published, Value>;
  return {
    folder,
    tarballs: each(({ filename }) => join(folder, filename)),
    files: each(({ files }) => files.map(({ path }) => path)),
  };
}

export interface ProjectOptions {
  /** The executable that runs npm and what is installed. Default: that of this process. */
  readonly node?: string;
  /** Further options of `npm install`. */
  readonly options?: readonly string[];
  /** Further fields of the project's `package.json`. */
  readonly manifest?: object;
}

export interface Project {
  readonly folder: string;
  /** The warnings and errors of npm at the installation, but for those of its own configuration. */
  readonly warnings: readonly string[];
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>;
  /** Copies a folder of this package's sources to the project's root. */
  readonly copy: (source: string) => Promise<void>;
  /** Runs what is installed there, or Node itself. It throws, with what was printed, where the code is not 0. */
  readonly run: (
    command: 'node' | 'npm' | (string & {}),
    ...args: readonly string[]
  ) => Promise<{ readonly stdout: string; readonly stderr: string }>;
  readonly remove: () => Promise<void>;
}

/**
 * An empty ESM project outside the repository, with these packages installed and nothing else. Packages that others
 * publish have the version that is named, `zod@4.6.7`, or the one that the repository has.
 */
export async function newProject(
  packed: Packed,
  packages: readonly string[],
  { node = process.execPath, options = [], manifest = {} }: ProjectOptions = {},
): Promise<Project> {
  const parent = await mkdtemp(join(apartFromPackages(), 'consumer-'));
  const folder = join(parent, 'consumer');
  await mkdir(folder);
  const named = await Promise.all(packages.map((name) => specifier(packed, name)));
  const fields = { name: 'consumer', version: '1.0.0', private: true, type: 'module', ...manifest };
  await writeFile(join(folder, 'package.json'), JSON.stringify(fields));
  const PATH = `${dirname(node)}:${process.env['PATH']}`;
  const npmHere = (...args: readonly string[]) => execute('npm', args, folder, { PATH });
  const quiet = ['--save-exact', '--prefer-offline', '--no-audit', '--no-fund'];
  const { stderr } = await npmHere('install', ...quiet, ...options, ...named);
  const bin = join(folder, 'node_modules/.bin');
  return {
    folder,
    warnings: stderr
      .split('\n')
      .filter((line) => line !== '' && !/^npm warn Unknown \w+ config |^npm notice/.test(line)),
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    },
    copy: (source) =>
      cp(new URL(`../${source}`, import.meta.url), folder, {
        recursive: true,
        filter: (path) => !/(\.test|Suite)\.ts$/.test(path),
      }),
    run: (command, ...args) =>
      command === 'npm'
        ? npmHere(...args)
        : execute(command === 'node' ? node : join(bin, command), args, folder, { PATH }),
    remove: () => rm(parent, { recursive: true, force: true }),
  };
}

/** A folder for temporary files above which no package is found: what was not installed must be missed. */
function apartFromPackages(): string {
  const found = [tmpdir(), '/var/tmp', '/dev/shm'].find(
    (folder) =>
      existsSync(folder) && !foldersAbove(folder).some((above) => existsSync(join(above, 'node_modules'))),
  );
  if (found === undefined)
    throw new Error('There is a node_modules above every temporary folder: set TMPDIR.');
  return found;
}

const foldersAbove = (folder: string): readonly string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...foldersAbove(dirname(folder))];

/** A project is told nothing of the npm script that this may run in. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^VITEST|^INIT_CWD$/.test(name)),
);

const npm = (cwd: string, ...args: readonly string[]) => execute('npm', args, cwd);

/** @throws {Error} with all that was printed, where the code is not 0: a compiler prints its errors to stdout */
function execute(file: string, args: readonly string[], cwd: string, variables: object = {}) {
  const env = { ...environment, ...variables };
  return promisify(execFile)(file, args, { cwd, env, maxBuffer: 2 ** 26 }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${[file, ...args].join(' ')} failed:\n${stdout}${stderr}`);
    },
  );
}

/** The lowest version that a published package accepts of a peer: `11.4.0` of `^11.4.0`. */
export async function lowestPeer(own: Published, peer: string): Promise<string> {
  const text = await readFile(join(root, 'packages', own, 'package.json'), 'utf8');
  const { peerDependencies } = JSON.parse(text) as { readonly peerDependencies: Record<string, string> };
  const [, lowest] = /^\^(\d+\.\d+\.\d+)$/.exec(peerDependencies[peer] ?? '') ?? [];
  if (lowest === undefined)
    throw new Error(`The peer ${peer} of @petstore/${own} is not a range like ^1.2.3.`);
  return lowest;
}

async function specifier({ tarballs }: Packed, name: string): Promise<string> {
  const own = name.replace('@petstore/', '');
  if (own !== name) return tarballs[own as Published];
  if (name.lastIndexOf('@') > 0) return name;
  const manifest = JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return `${name}@${manifest.version}`;
}
