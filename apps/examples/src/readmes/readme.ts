import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasUws } from '@petstore/testing/forms';
import { onTestFinished } from 'vitest';
import { startOnPort } from '../startOnPort.ts';

/** The `database.ts` that the server in the README of `trpc-gateway-runtime` imports. */
export const databaseFile =
  'export const openDatabase = async () => ({ ping: async () => {}, close: async () => {} });';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const execute = promisify(execFile);
const conditions = '--conditions=trpc-gateway-source';

/** The text and the fenced code blocks of a Markdown page. */
export interface Readme {
  readonly text: string;
  /** The blocks of a language, in order. For a `diff`, the result of applying it. */
  readonly blocks: (language: 'ts' | 'typescript' | 'tsx' | 'sh' | 'python' | 'diff') => readonly string[];
  /** The texts before and after each diff, in order. */
  readonly diffs: readonly { readonly before: string; readonly after: string }[];
}

/** @param path relative to the repository's root */
export async function readReadme(path: string): Promise<Readme> {
  const text = await readFile(join(root, path), 'utf8');
  const diffs = blocksOf(text, 'diff').map((diff) => ({
    before: applyDiff(diff, /^\+.*\n/gm),
    after: applyDiff(diff, /^-.*\n/gm),
  }));
  return {
    text,
    blocks: (language) => (language === 'diff' ? diffs.map(({ after }) => after) : blocksOf(text, language)),
    diffs,
  };
}

const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

/** Returns one side of a diff, without the lines of the other. */
const applyDiff = (diff: string, other: RegExp) => diff.replaceAll(other, '').replaceAll(/^[-+ ]/gm, '');

/** Returns the `curl` commands in a text, each with the comment below it, which is its output. */
export const curlLines = (text: string): readonly (readonly [line: string, printed: string])[] =>
  blocksOf(text, 'sh')
    .flatMap((block) => Array.from(block.matchAll(/^(curl (?:.|\n)*?)\n# (.*)$/gm)))
    .map(([, line = '', printed = '']) => [line, printed]);

/** Returns the last comment of a program, which is its output. */
export const printedBy = (program: string): string | undefined =>
  [...program.matchAll(/^\/\/ (.*)$/gm)].at(-1)?.[1];

/** A folder for compiling and running snippets: inside a package, so that imports resolve, and ignored by linters. */
export interface Snippets {
  /** Writes texts by file name. A name may have a folder. */
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>;
  /** Compiles all files. Rejects with the output of the compiler. */
  readonly compile: () => Promise<void>;
  /** Runs a program and returns its output. */
  readonly run: (name: string, env?: Readonly<Record<string, string>>) => Promise<string>;
  /** Starts a server and waits until its port accepts connections. */
  readonly start: (name: string, port: number) => Promise<void>;
  /** Runs a shell command in the folder. */
  readonly shell: (line: string, env?: Readonly<Record<string, string>>) => Promise<string>;
}

export async function newSnippets(): Promise<Snippets> {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url));
  await mkdir(dist, { recursive: true });
  const folder = await mkdtemp(join(dist, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const environment = (env: Readonly<Record<string, string>> = {}) => ({ PATH: process.env['PATH'], ...env });
  const printed = async (file: string, args: readonly string[], env?: Readonly<Record<string, string>>) =>
    (await execute(file, args, { cwd: folder, env: environment(env) })).stdout;
  return {
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        const runnable = hasUws ? text : text.replaceAll("'trpc-gateway/uws'", "'trpc-gateway/node'");
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), runnable);
      }
    },
    async compile() {
      const options = {
        noEmit: true,
        composite: false,
        incremental: false,
        lib: ['es2024', 'esnext.disposable'],
      };
      const config = { extends: join(root, 'tsconfig.json'), compilerOptions: options, include: ['**/*.ts'] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      await printed(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
        (error: { stdout: string }) => {
          throw new Error(error.stdout);
        },
      );
    },
    run: (name, env) => printed(process.execPath, [conditions, name], env),
    async start(name, port) {
      const stop = await startOnPort(port, [process.execPath, conditions, name], folder);
      onTestFinished(async () => void (await stop('SIGKILL')));
    },
    shell: (line, env) => printed('bash', ['-c', line], env),
  };
}

/** Returns the first column of the table below a heading, without backquotes. */
export function firstColumn({ text }: Readme, heading: string): readonly string[] {
  const [, section = ''] = text.split(new RegExp(`^##+ ${heading}\n`, 'm'));
  const [, table = ''] = /((?:^\|.*\n)+)/m.exec(section) ?? [];
  return table
    .split('\n')
    .slice(2, -1)
    .map((row) => row.split('|')[1]?.trim().replaceAll('`', '') ?? '');
}
