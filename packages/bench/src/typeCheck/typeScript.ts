import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { coreTimes } from '../foreignLoad.ts';
import { clients, type Library, repository } from './project.ts';

const run = promisify(execFile);

const compiler = join(repository, 'node_modules/typescript/bin/tsc');

/** What one type check took. */
export interface TypeCheck {
  /** The whole run of `tsc`, by the clock: it uses several cores, if they are idle. */
  readonly seconds: number;
  /** The processor time of all its threads. Other programs on the machine hardly change it. */
  readonly processorSeconds: number;
  /** What the compiler reports as its memory, in MB (10⁶ bytes). */
  readonly memoryMb: number;
  readonly types: number;
}

/**
 * Checks the types of a folder with `tsc --noEmit --extendedDiagnostics`.
 * @throws {Error} with the compiler's messages if a type is wrong
 */
export async function checkTypes(folder: string): Promise<TypeCheck> {
  const args = ['--noEmit', '--extendedDiagnostics', '-p', folder];
  const before = await coreTimes();
  const report = await runCompiler(args);
  const processorSeconds = (await coreTimes()).own - before.own;
  const figure = (name: string) => {
    const text = new RegExp(`^${name}:\\s*([\\d.]+)`, 'm').exec(report)?.[1];
    if (text === undefined) throw new Error(`The compiler reports no "${name}":\n${report}`);
    return Number(text);
  };
  return {
    seconds: figure('Total time'),
    processorSeconds,
    memoryMb: (figure('Memory used') * 1024) / 1e6,
    types: figure('Types'),
  };
}

async function runCompiler(args: readonly string[]): Promise<string> {
  try {
    return (await run(process.execPath, [compiler, ...args], { maxBuffer: 1e8 })).stdout;
  } catch (cause) {
    const { stdout = '' } = cause as { readonly stdout?: string };
    throw new Error(`The type check failed:\n${stdout.slice(0, 2_000)}`, { cause });
  }
}

/** Writes the types of a project's tRPC router with `trpc-gateway-typegen`, for the client `typegen`. */
export async function writeTypes(project: string): Promise<void> {
  await run(process.execPath, [
    '--conditions=trpc-gateway-source',
    join(repository, 'packages/typegen/src/main.ts'),
    '--router',
    join(project, 'trpcServer/index.ts'),
    '--out',
    join(project, clients.typegen.name, 'types.ts'),
  ]);
}

/**
 * Writes the declarations (`.d.ts`) of a project's server, for a client that imports them.
 * @throws {Error} with TS7056 if the type of a router is too long for the compiler: from 3,000 procedures of oRPC on
 */
export async function writeDeclarations(project: string, library: Library): Promise<void> {
  const server = join(project, `${library}Server`);
  const to = ['--rootDir', server, '--outDir', join(project, `${library}Types`)];
  await runCompiler(['-p', server, '--declaration', '--emitDeclarationOnly', ...to]);
}

/** The version of the compiler, such as `7.0.2`. */
export async function compilerVersion(): Promise<string> {
  const text = await readFile(join(repository, 'node_modules/typescript/package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
