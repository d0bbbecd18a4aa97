import type { AnyTRPCRouter } from '@trpc/server';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Thrown if a module, or what it exports, cannot be used. The message names the file and the fix. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
}

export type ModuleExports = Readonly<Record<string, unknown>>;

/**
 * Imports a module of the code base that a command works on, in JavaScript or TypeScript.
 * @throws {ModuleError} if it cannot be loaded
 */
export async function importModule(file: string): Promise<ModuleExports> {
  const path = resolve(file);
  if (!existsSync(path)) throw new ModuleError(`${file} does not exist. Name the module by its path.`);
  try {
    return withCommonJs(await load(path));
  } catch (error) {
    throw new ModuleError(`${file} cannot be loaded: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Loads a file by jiti, which reads what Node alone does not: enums, JSX, imports without an extension, `paths` of the
 * nearest `tsconfig.json`, and `import` in a package of `"type": "commonjs"`. Node loads what is in `node_modules`, so that
 * the code base and the gateway have the same tRPC and zod.
 */
async function load(path: string): Promise<ModuleExports> {
  const url = pathToFileURL(path).href;
  // Bun reads all of that itself.
  if (process.versions['bun'] !== undefined) return (await import(url)) as ModuleExports;
  const { createJiti } = await import('jiti');
  const packages = findAbove(path, 'node_modules');
  const jiti = createJiti(url, {
    tsconfigPaths: true,
    jsx: { runtime: 'automatic' },
    extensions: ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx', '.json'],
    // jiti's default is a folder for temporary files, where another user of the machine may have put some.
    fsCache: packages !== undefined && join(packages, '.cache/trpc-gateway'),
  });
  return jiti.import(url);
}

/**
 * Finds a package that the user has: beside the code base, in the current folder, or beside this package.
 * @returns the URL of an entry point; `undefined` if it is not installed
 */
export function findInstalled(specifier: string, file: string): string | undefined {
  for (const from of [resolve(file), join(process.cwd(), 'package.json'), import.meta.filename]) {
    try {
      return pathToFileURL(createRequire(from).resolve(specifier)).href;
    } catch {
      // It may be installed at the next place.
    }
  }
  return undefined;
}

/** Returns the path of the nearest file with a name in the folders above another. */
export function findAbove(path: string, name: string): string | undefined {
  const folder = dirname(path);
  const found = join(folder, name);
  if (existsSync(found)) return found;
  return folder === path ? undefined : findAbove(folder, name);
}

/** Returns the exports of a module, also of one that was compiled to CommonJS, which Node has in `default`. */
function withCommonJs(exports: ModuleExports): ModuleExports {
  const inner = exports['default'];
  return typeof inner === 'object' && inner !== null && '__esModule' in inner
    ? { ...exports, ...inner }
    : exports;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}.`;
  const { code = '' } = error as NodeJS.ErrnoException;
  const message = error.message.replaceAll(/\s+/g, ' ').replace(' Require stack: -', ' from');
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
    return `${message}. Install the dependencies of the code base, or correct the path in it.`;
  }
  const [, place] = /^ +at (?:.*\()?(?:file:\/\/)?([^()]+:\d+:\d+)/m.exec(error.stack ?? '') ?? [];
  return `${message}${place === undefined ? '' : ` (at ${place})`}`;
}

/** Names under which code bases export their router. */
const usualNames = ['default', 'appRouter'];

/**
 * Returns the router that a module exports: the one with the name, the only one, or else `default` or `appRouter`.
 * @throws {ModuleError}
 */
export function findRouter(exports: ModuleExports, file: string, name: string | undefined): AnyTRPCRouter {
  const routers = Object.entries(exports).filter((entry): entry is [string, AnyTRPCRouter] =>
    isRouter(entry[1]),
  );
  const candidates = name === undefined ? routers : routers.filter(([exported]) => exported === name);
  // Under two names it is one router.
  const [only, another] = new Set(candidates.map(([, router]) => router));
  if (only === undefined) {
    const others = routers.map(([exported]) => exported).join(', ');
    if (name !== undefined && others !== '') {
      throw new ModuleError(
        `${file} exports no tRPC router named ${name}. Choose one of ${others} with --export.`,
      );
    }
    const functions = Object.keys(exports).filter((each) => typeof exports[each] === 'function');
    const fix = functions.length > 0 ? ` It exports the functions ${functions.join(', ')}:` : '';
    throw new ModuleError(
      `${file} exports no tRPC router${name === undefined ? '' : ` named ${name}`}.${fix} Name the module that exports what t.router({ … }) returns.`,
    );
  }
  if (another === undefined) return only;
  const usual = usualNames.map((each) => exports[each]).find(isRouter);
  if (usual) return usual;
  const names = routers.map(([exported]) => exported).join(', ');
  throw new ModuleError(`${file} exports several routers. Choose one of ${names} with --export.`);
}

function isRouter(value: unknown): value is AnyTRPCRouter {
  const { _def } = (Object(value) ?? {}) as { readonly _def?: { readonly router?: unknown } };
  return _def?.router === true;
}
