import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { everyForm } from './forms.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const compilers = {
  'TypeScript 7': join(root, 'node_modules/typescript/bin/tsc'),
  'TypeScript 5.9': join(root, 'packages/types/node_modules/typescript/bin/tsc'),
} as const;

export interface CompilerOptions {
  readonly compiler: keyof typeof compilers;
  readonly exactOptionalPropertyTypes: boolean;
}

/**
 * The compilers that consumers have: TypeScript 7 with and without `exactOptionalPropertyTypes`, and 5.9 with it, since it
 * takes ten times as long. If not every form of the tests runs, only TypeScript 7 with it.
 */
export const everyCompiler: readonly CompilerOptions[] = [
  { compiler: 'TypeScript 7', exactOptionalPropertyTypes: true } as const,
  { compiler: 'TypeScript 7', exactOptionalPropertyTypes: false } as const,
  { compiler: 'TypeScript 5.9', exactOptionalPropertyTypes: true } as const,
].slice(0, everyForm ? 3 : 1);

export interface Compilation extends CompilerOptions {
  /** Texts by file name, in one new folder. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * What can be imported: `repository` is all that is installed here, and the packages' sources; `consumer` is
   * `@trpc/client` and its peer, as a client application has it.
   */
  readonly packages: 'repository' | 'consumer';
  readonly flags?: readonly string[];
}

/** The output of a compiler. */
export async function compile({
  files,
  compiler,
  packages,
  flags = [],
  exactOptionalPropertyTypes,
}: Compilation): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'types-'));
  try {
    await (packages === 'repository' ? installAll(folder) : installConsumer(folder));
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.asynciterable', 'esnext.disposable'],
      types: packages === 'repository' ? ['node'] : [],
      module: 'nodenext',
      moduleDetection: 'force',
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      customConditions: ['trpc-gateway-source'],
      strict: true,
      exactOptionalPropertyTypes,
      skipLibCheck: true,
      noEmit: true,
    };
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const args = [compilers[compiler], '-p', folder, ...flags];
    // Several checkers would each check what all of them import.
    if (compiler === 'TypeScript 7') args.push('--singleThreaded');
    const run = promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 });
    // A compiler that finds errors prints them to stdout and ends with a code that is not 0.
    return await run.then(
      ({ stdout }) => stdout,
      ({ stdout }: { readonly stdout: string }) => stdout,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

const installAll = (folder: string) => symlink(join(root, 'node_modules'), join(folder, 'node_modules'));

async function installConsumer(folder: string): Promise<void> {
  for (const name of ['@trpc/client', '@trpc/server']) {
    // A copy: a link would find what is installed beside its target.
    await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
}
