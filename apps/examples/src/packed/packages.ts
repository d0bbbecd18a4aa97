import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runtimes } from '@petstore/testing/runtimes';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

export const publishedPackages = [
  'trpc-gateway',
  'trpc-gateway-runtime',
  'trpc-gateway-shared',
  'trpc-gateway-typegen',
  '@petstore/core',
  '@petstore/embedded-store',
  '@petstore/types',
] as const;
type PublishedPackage = (typeof publishedPackages)[number];

/** The tarballs that `npm publish` would upload, and their folder. */
export interface PackedPackages {
  readonly folder: string;
  readonly tarballs: Readonly<Record<PublishedPackage, string>>;
  /** The paths in each tarball, without `package/`. */
  readonly files: Readonly<Record<PublishedPackage, readonly string[]>>;
}

/** Builds (by `prepack`) and packs the published packages. The caller removes the folder. */
export async function pack(): Promise<PackedPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const workspaces = publishedPackages.flatMap((name) => ['--workspace', name]);
  const { stdout } = await npm(root, 'pack', '--json', '--pack-destination', folder, ...workspaces);
  // Skips the output of `prepack`.
  const output = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as unknown;
  // npm 12 prints an object by package name, npm 11 an array.
  const packages = Object.values(output as object) as readonly {
    readonly name: string;
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  const each = <Value>(value: (entry: (typeof packages)[number]) => Value) =>
    Object.fromEntries(packages.map((entry) => [entry.name, value(entry)])) as Record<
      PublishedPackage,
      Value
    >;
  return {
    folder,
    tarballs: each(({ filename }) => join(folder, filename)),
    files: each(({ files }) => files.map(({ path }) => path)),
  };
}

/** How a package manager installs what `package.json` names, and which lines of its output a user should not see. */
interface PackageManager {
  readonly install: readonly string[];
  readonly variables?: object;
  readonly warning: RegExp;
  /** Needed besides `dependencies`: unpublished packages depend on each other by their packed files. */
  readonly settings?: (files: Readonly<Record<string, string>>) => {
    readonly manifest?: object;
    readonly files?: Readonly<Record<string, string>>;
  };
}

const ofLockFile = (path: string) => [process.execPath, join(root, 'node_modules', path), 'install'];

const pnpmSettings = { strictPeerDependencies: true, strictDepBuilds: false };

/** pnpm and Yarn have the versions of this repository's lock file, and Bun that of `.ci/runtimes`. */
const managers = {
  npm: {
    install: ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund'],
    warning: /^npm (?!warn Unknown \w+ config|notice)/,
  },
  pnpm: {
    install: [...ofLockFile('pnpm/bin/pnpm.mjs'), '--no-frozen-lockfile', '--prefer-offline'],
    warning: /WARN/,
    settings: (overrides) => ({
      // Install scripts are not needed here.
      files: {
        'pnpm-workspace.yaml': JSON.stringify({ ...pnpmSettings, overrides }),
      },
    }),
  },
  bun: {
    install: [runtimes()['bun'] ?? 'bun', 'install'],
    warning: /warn.*peer/,
    settings: (overrides) => ({ manifest: { overrides } }),
  },
  yarn: {
    install: ofLockFile('yarn/bin/yarn.js'),
    warning: /^warning .*peer/,
    settings: (resolutions) => ({ manifest: { resolutions } }),
  },
  yarn4: {
    install: ofLockFile('yarn4/bin/yarn.js'),
    variables: { YARN_ENABLE_TELEMETRY: '0', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
    warning: /YN0002|YN0060|YN0086/,
    settings: (resolutions) => ({
      manifest: { resolutions },
      files: { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' },
    }),
  },
} as const satisfies Readonly<Record<string, PackageManager>>;

export type PackageManagerName = keyof typeof managers;

export interface ProjectOptions {
  /** The Node executable for npm and installed commands. Default: that of this process. */
  readonly node?: string;
  /** Default: npm. */
  readonly manager?: PackageManagerName;
  /** Additional options of the installation. */
  readonly options?: readonly string[];
  /** Additional fields of the project's `package.json`. */
  readonly manifest?: object;
}

export type Project = Awaited<ReturnType<typeof newProject>>;

/**
 * Creates an ESM project outside the repository with only these packages installed. Third-party packages have the given
 * version, as in `zod@4.6.7`, or the version of the repository.
 */
export async function newProject(
  packed: PackedPackages,
  packages: readonly string[],
  { node = process.execPath, manager = 'npm', options = [], manifest = {} }: ProjectOptions = {},
) {
  const parent = await mkdtemp(join(isolatedFolder(), 'consumer-'));
  const folder = join(parent, 'consumer');
  const { install, warning, settings, variables }: PackageManager = managers[manager];
  const ownPackages = packages.filter((name) => name in packed.tarballs);
  const own = settings?.(await dependencies(packed, ownPackages));
  const fields = {
    name: 'consumer',
    version: '1.0.0',
    private: true,
    type: 'module',
    dependencies: await dependencies(packed, packages),
    ...own?.manifest,
    ...manifest,
  };
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  };
  await write({ 'package.json': JSON.stringify(fields), ...own?.files });
  const PATH = `${dirname(node)}:${process.env['PATH']}`;
  const [command = '', ...args] = install;
  const { stdout, stderr } = await execute(command, [...args, ...options], folder, { PATH, ...variables });
  const bin = join(folder, 'node_modules/.bin');
  return {
    folder,
    /** The warnings and errors of the installation, except those about npm's configuration. */
    warnings: `${stdout}\n${stderr}`.split('\n').filter((line) => warning.test(line)),
    write,
    /** Runs an installed command, npm or Node. Rejects with the output if the exit code is not 0. */
    run: (name: 'node' | 'npm' | (string & {}), ...rest: readonly string[]) =>
      execute(name === 'node' ? node : name === 'npm' ? name : join(bin, name), rest, folder, { PATH }),
    remove: () => rm(parent, { recursive: true, force: true }),
  };
}

/** Returns a temporary folder without a `node_modules` in its parents, so that missing dependencies are noticed. */
function isolatedFolder(): string {
  const isIsolated = (folder: string) =>
    existsSync(folder) && !foldersAbove(folder).some((above) => existsSync(join(above, 'node_modules')));
  const isolated = [tmpdir(), '/var/tmp', '/dev/shm'].find(isIsolated);
  if (isolated !== undefined) return isolated;
  throw new Error('There is a node_modules above every temporary folder: set TMPDIR.');
}

const foldersAbove = (folder: string): readonly string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...foldersAbove(dirname(folder))];

/** The environment without variables of the npm script that may run this. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^VITEST|^INIT_CWD$/.test(name)),
);

const npm = (cwd: string, ...args: readonly string[]) => execute('npm', args, cwd);

/** @throws {Error} with stdout and stderr if the exit code is not 0: compilers print errors to stdout */
function execute(file: string, args: readonly string[], cwd: string, variables: object = {}) {
  const env = { ...environment, ...variables };
  return promisify(execFile)(file, args, { cwd, env, maxBuffer: 2 ** 26 }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${[file, ...args].join(' ')} failed:\n${stdout}${stderr}`);
    },
  );
}

/** The fields of a manifest that tests read. */
export interface Manifest {
  readonly version: string;
  readonly repository: { readonly url: string };
  readonly publishConfig?: object;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** @param name an installed or published package, or `..` for the repository's root */
export async function readManifest(name: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8')) as Manifest;
}

/** Returns the `dependencies` of a manifest with these packages. */
async function dependencies(
  { tarballs }: PackedPackages,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const entries = names.map(async (name) => {
    const own = publishedPackages.find((each) => each === name);
    if (own) return [name, `file:${tarballs[own]}`];
    const [, bareName = name, version] = /^(@?[^@]+)@(.+)$/.exec(name) ?? [];
    return [bareName, version ?? (await readManifest(name)).version];
  });
  return Object.fromEntries(await Promise.all(entries)) as Readonly<Record<string, string>>;
}
