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

/** Imports a JavaScript or TypeScript module of the code base. @throws {ModuleError} if it fails */
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
 * jiti reads what Node does not: enums, JSX, imports without an extension, `paths` of `tsconfig.json`, and `import`
 * in a package of `"type": "commonjs"`. Node loads `node_modules`, so that code and gateway share tRPC and zod.
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

/** Imports a package from beside the code base, the current folder or this package, if installed. */
export async function importInstalled<Module>(specifier: string, file: string): Promise<Module | undefined> {
  for (const from of [resolve(file), join(process.cwd(), 'package.json'), import.meta.filename]) {
    let path: string;
    try {
      path = createRequire(from).resolve(specifier);
    } catch {
      continue;
    }
    return (await import(pathToFileURL(path).href)) as Module;
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

/** Finds what a module exports: under the name, one of the usual names, or the only one. Returns also the names of its kind. */
export function findExport<Value>(
  exports: ModuleExports,
  isOne: (value: unknown) => value is Value,
  usual: readonly string[],
  name = usual.find((each) => isOne(exports[each])),
): { readonly found: Value | undefined; readonly names: readonly string[] } {
  const all = new Map(Object.entries(exports).filter((entry): entry is [string, Value] => isOne(entry[1])));
  // Under two names it is one.
  const [only, another] = new Set(all.values());
  const found = name === undefined && another === undefined ? only : all.get(name ?? '');
  return { found, names: [...all.keys()] };
}

/** Returns the export with the name, `default`, `appRouter`, or the only router. @throws {ModuleError} */
export function findRouter(exports: ModuleExports, file: string, name: string | undefined): AnyTRPCRouter {
  const { found, names } = findExport(exports, isRouter, ['default', 'appRouter'], name);
  if (found) return found;
  const named = name === undefined ? '' : ` named ${name}`;
  if (names.length > 0) {
    const problem = named === '' ? 'several routers' : `no tRPC router${named}`;
    throw new ModuleError(`${file} exports ${problem}. Choose one of ${names.join(', ')} with --export.`);
  }
  const functions = Object.keys(exports).filter((each) => typeof exports[each] === 'function');
  const fix = functions.length > 0 ? ` It exports the functions ${functions.join(', ')}:` : '';
  throw new ModuleError(
    `${file} exports no tRPC router${named}.${fix} Name the module that exports what t.router({ … }) returns.`,
  );
}

const isRouter = (value: unknown): value is AnyTRPCRouter =>
  (Object(value) as { readonly _def?: { readonly router?: unknown } })._def?.router === true;
