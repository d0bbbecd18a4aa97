import { existsSync, readFileSync } from 'node:fs';
// Under another name, since a bundle may have a banner that declares `createRequire`.
import { createRequire as createModuleRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Uws from '@uwsjs/core';

/** Head size in bytes from which uWebSockets.js itself rejects, with HTML; above our defaults (JSON). */
const parserHeadBytes = 49_152;

// The addon reads this once, when it is loaded. Its default of 4,096 bytes is too low for tRPC's batched GET requests.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(parserHeadBytes);

/**
 * The optional peers that carry uWebSockets.js, in order of preference. The second is any build under this name: the
 * older repack, which also loads on glibc 2.27, the official build, or a mirror.
 */
const packages = ['@uwsjs/core', 'uWebSockets.js'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package that is installed, but does not load. */
interface LoadFailure {
  readonly manifest: Manifest;
  readonly error: unknown;
}

/** Thrown by the import of `trpc-gateway/uws` if no package loads. The message names the reason and the fixes. */
class NoBinaryError extends Error {
  override readonly name = 'NoBinaryError';
  readonly code = 'no-binary';
  readonly reason: string;

  constructor(reason: string, failures: readonly LoadFailure[]) {
    const cause = new AggregateError(failures.map(({ error }) => error));
    super(`${reason} Or serve with "trpc-gateway/node".`, { cause });
    this.reason = reason;
  }
}

interface LoadedAddon {
  readonly uws: typeof Uws;
  /** Name and version, such as `@uwsjs/core 20.69.0`. */
  readonly loadedPackage: string;
}

// In a CommonJS bundle, `import.meta` is an empty object.
const requireHere = createModuleRequire((import.meta as Partial<ImportMeta>).url ?? __filename);

/** Returns what to require: the module that an `import` loads, since uws-pack has no other. */
function moduleOf(name: string): string {
  const url = (import.meta as Partial<ImportMeta>).resolve?.(name);
  return url === undefined ? name : fileURLToPath(url);
}

// Without `await`, which a module that CommonJS requires, or a CommonJS bundle, cannot have at its top level.
function load(): LoadedAddon {
  const failures: LoadFailure[] = [];
  for (const name of packages) {
    const manifest = readManifest(name);
    if (manifest === undefined) continue;
    try {
      return { uws: requireHere(moduleOf(name)) as typeof Uws, loadedPackage: describe(manifest) };
    } catch (error) {
      failures.push({ manifest, error });
    }
  }
  throw new NoBinaryError(failureReason(failures), failures);
}

// Not by `findPackageJSON`: Node 20 has none, and would report that instead of the Node that is needed.
/** Returns the package.json of a package, or undefined if the package is not installed. */
function readManifest(name: string): Manifest | undefined {
  try {
    const folders = requireHere.resolve.paths(name) ?? [];
    const path = folders.map((folder) => join(folder, name, 'package.json')).find((each) => existsSync(each));
    return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as Manifest);
  } catch {
    return undefined;
  }
}

const describe = ({ name, version }: Manifest) => `${name} ${version}`;

function failureReason(failures: readonly LoadFailure[]): string {
  const { version, platform, arch } = process;
  const foundGlibc = glibcVersion();
  if (failures.length === 0) return `uWebSockets.js is not installed. ${installAdvice(foundGlibc)}`;
  for (const { manifest, error } of failures) {
    const needs = missingLibrary(String(error));
    if (needs === undefined) continue;
    return `${describe(manifest)} needs ${needs}, and this system has glibc ${foundGlibc}. ${olderSystem}`;
  }
  const binary = `@uwsjs/${platform}-${arch}-${process.versions.node.split('.')[0]}`;
  const core = failures.find(({ manifest }) => manifest.optionalDependencies?.[binary] !== undefined);
  // npm also leaves out a binary for another libc, which a new install does not change.
  if (core && (platform !== 'linux' || foundGlibc !== undefined)) {
    return `${describe(core.manifest)} is installed without ${binary}, its binary for Node ${version}. npm leaves it out when it runs on another Node version or with --omit=optional. Run \`npm install\` again, on this Node.`;
  }
  const libc = platform === 'linux' && foundGlibc === undefined ? ' without glibc' : '';
  const tried = failures.map(({ manifest }) => describe(manifest)).join(' and ');
  return `${tried} ${failures.length > 1 ? 'have' : 'has'} no binary for Node ${version} on ${platform}-${arch}${libc}. Use @uwsjs/core on Node 22, 24 or 26, on Linux with glibc, macOS or Windows.`;
}

/** The oldest glibc on which the binaries of `@uwsjs/core` 20.69 load. */
const leastGlibc = 2.38;

const olderSystem =
  'Use Debian 13, Ubuntu 24.04 or newer. Or use Node 22 with an older build: `npm install uWebSockets.js@npm:uws-pack@20.0.8`.';

/** Returns what to install on this system, on which not every package loads. */
function installAdvice(glibc: string | undefined): string {
  if (process.platform !== 'linux') return 'Run `npm install @uwsjs/core`.';
  if (glibc === undefined) return 'Its binaries need Linux with glibc, macOS or Windows.';
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  if (major + minor / 100 >= leastGlibc) return 'Run `npm install @uwsjs/core`.';
  return `@uwsjs/core needs glibc ${leastGlibc}, and this system has glibc ${glibc}. ${olderSystem}`;
}

/**
 * Returns the library that is too old according to an error of the dynamic loader, such as
 * ``/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found``.
 */
function missingLibrary(message: string): string | undefined {
  const [, symbol, version] = /version `(GLIBC|GLIBCXX|CXXABI)_([\d.]+)' not found/.exec(message) ?? [];
  if (symbol === undefined) return undefined;
  return symbol === 'GLIBC' ? `glibc ${version}` : `a libstdc++ with ${symbol}_${version}`;
}

/** Returns undefined on musl, macOS and Windows. */
function glibcVersion(): string | undefined {
  const { header } = process.report.getReport() as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime;
}

export const { uws, loadedPackage } = load();
