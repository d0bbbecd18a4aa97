import '../checks/nodeVersion.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Thrown if a module, or what it exports, cannot be used. The message names the file and the fix. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
}

export type ModuleExports = Readonly<Record<string, unknown>>;

/**
 * Imports a module of the code base that a command works on: JavaScript or TypeScript. TypeScript runs on tsx if the code
 * base has it, since only tsx reads aliases of `tsconfig.json`, imports without an extension and enums; otherwise Node
 * strips the types itself.
 * @throws {ModuleError} if it cannot be loaded
 */
export async function importModule(file: string): Promise<ModuleExports> {
  const path = resolve(file);
  if (!existsSync(path)) throw new ModuleError(`${file} does not exist. Name the module by its path.`);
  const isTypeScript = /^\.[cm]?tsx?$/.test(extname(path));
  const hasTsx = isTypeScript && process.versions['bun'] === undefined && (await useTsx(path));
  try {
    return withCommonJs((await import(pathToFileURL(path).href)) as ModuleExports);
  } catch (error) {
    throw new ModuleError(`${file} cannot be loaded: ${reasonOf(error, isTypeScript && !hasTsx)}`, {
      cause: error,
    });
  }
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

/** Registers tsx for this process, with the nearest `tsconfig.json`. @returns whether it is installed */
async function useTsx(path: string): Promise<boolean> {
  const tsx = findInstalled('tsx', path);
  if (tsx === undefined) return false;
  // tsx reads it once, and otherwise that of the current folder.
  const config = findAbove(path, 'tsconfig.json');
  if (config !== undefined) process.env['TSX_TSCONFIG_PATH'] ??= config;
  await import(tsx);
  return true;
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

/** Codes and messages of errors in TypeScript that Node does not run, but tsx does. */
const needsTsx =
  /^ERR_(?:MODULE_NOT_FOUND|UNKNOWN_FILE_EXTENSION|UNSUPPORTED_(?:DIR_IMPORT|TYPESCRIPT_SYNTAX)|INVALID_TYPESCRIPT_SYNTAX)$/;
const importsTypes = /does not provide an export named|is not defined in ES module scope/;

function reasonOf(error: unknown, isWithoutTsx: boolean): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}.`;
  const { code = '' } = error as NodeJS.ErrnoException;
  const [line = ''] = error.message.split('\n');
  const sentence = line.replace(/\.?$/, '.');
  if (isWithoutTsx && (needsTsx.test(code) || importsTypes.test(line))) {
    return `${sentence} Node runs TypeScript only if its imports have extensions and its types can be removed. Run npm install --save-dev tsx, which the command then uses: it also reads aliases of tsconfig.json, enums and imports without an extension.`;
  }
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
    return `${sentence} Install the dependencies of the code base, or correct the path in it.`;
  }
  const at = /\((?:file:\/\/)?(\/[^()]*)\)|at (?:file:\/\/)(\/\S+)/.exec(error.stack ?? '');
  const place = at?.[1] ?? at?.[2];
  return `${error.message}${place === undefined ? '' : ` (at ${place})`}`;
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
