import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandMissing } from '@petstore/testing/commandMissing';
import { hasUws } from '@petstore/testing/forms';
import { freePort } from '@petstore/testing/freePort';
import { expect, onTestFinished } from 'vitest';
import { startOnPort } from '../startOnPort.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const execute = promisify(execFile);
const conditions = '--conditions=trpc-gateway-source';

/** Texts by file name. */
export type Files = Readonly<Record<string, string>>;
type Environment = Readonly<Record<string, string>>;
type CurlLines = readonly (readonly [line: string, printed: string])[];

type Language = 'ts' | 'typescript' | 'tsx' | 'sh' | 'text';
export type Side = 'before' | 'after';
const otherLines: Readonly<Record<Side, RegExp>> = { before: /^\+.*\n/gm, after: /^-.*\n/gm };

/** Reads the text and the fenced code blocks of a Markdown page. @param path relative to the repository's root */
export async function readReadme(path: string) {
  const text = await readFile(join(root, path), 'utf8');
  const blocks = (language: Language) => blocksOf(text, language);
  return {
    text,
    /** The blocks of a language, in order. */
    blocks,
    /** The programs by the file name in their first line, and one side of the diffs. Other blocks are fragments. */
    programs: (side: Side = 'after'): Files => {
      const diffs = blocksOf(text, 'diff').map((diff) =>
        diff.replaceAll(otherLines[side], '').replaceAll(/^[-+ ]/gm, ''),
      );
      return Object.fromEntries(
        [...blocks('ts'), ...diffs].flatMap((program) => {
          const [, name] = /^\/\/ (\w+\.ts)\n/.exec(program) ?? [];
          return name === undefined ? [] : [[name, program] as const];
        }),
      );
    },
  };
}

const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

/** Returns the `curl` commands in a text, each with the comment below it, which is its output. */
export const curlLines = (text: string): CurlLines =>
  blocksOf(text, 'sh')
    .flatMap((block) => Array.from(block.matchAll(/^(curl (?:.|\n)*?)\n# (.*)$/gm)))
    .map(([, line = '', printed = '']) => [line, printed]);

/** Returns the last comment of a program, which is its output. */
export const printedBy = (program: string): string | undefined =>
  [...program.matchAll(/^\/\/ (.*)$/gm)].at(-1)?.[1];

interface PrintedOptions {
  readonly env?: Environment;
  /** Returns a text without what differs in each run. */
  readonly comparable?: (text: string) => string;
}

const noCurl = commandMissing('curl');

/**
 * Creates a folder for compiling and running snippets: inside a package, so that imports resolve, and ignored by linters.
 * @param shownPorts the ports in the snippets of a page
 */
export async function newSnippets(...shownPorts: readonly string[]) {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url));
  await mkdir(dist, { recursive: true });
  const folder = await mkdtemp(join(dist, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const ports = new Map<string, number>();
  for (const shown of shownPorts) ports.set(shown, await freePort());
  /** Returns what a text has become by the free ports. */
  const onPorts = (text: string) =>
    [...ports].reduce((replaced, [shown, port]) => replaced.replaceAll(shown, String(port)), text);
  const printed = async (file: string, args: readonly string[], env: Environment = {}) =>
    (await execute(file, args, { cwd: folder, env: { PATH: process.env['PATH'], ...env } })).stdout;
  /** Runs a shell command in the folder, with the free ports. */
  const shell = (line: string, env?: Environment) => printed('bash', ['-c', onPorts(line)], env);
  return {
    /** Writes texts by file name, with free ports in place of those that the pages show. A name may have a folder. */
    write: async (files: Files) => {
      for (const [name, text] of Object.entries(files)) {
        const runnable = hasUws ? text : text.replaceAll("'trpc-gateway/uws'", "'trpc-gateway/node'");
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), onPorts(runnable));
      }
    },
    /** Compiles all files. Rejects with the output of the compiler. */
    compile: async () => {
      const options = { noEmit: true, composite: false, incremental: false };
      const compilerOptions = { ...options, lib: ['es2024', 'esnext.disposable'] };
      const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['**/*.ts'] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(root, 'node_modules/.bin/tsc');
      // A compiler that collects garbage less often takes a quarter less time.
      await printed(tsc, ['-p', folder, '--singleThreaded'], { GOGC: '400' }).catch(
        (error: { stdout: string }) => {
          throw new Error(error.stdout);
        },
      );
    },
    /** Runs a program and returns its output. */
    run: (name: string, env?: Environment) => printed(process.execPath, [conditions, name], env),
    /** Starts a server and waits until its port, by default the first one, accepts connections. */
    start: async (name: string, shownPort = shownPorts[0] ?? '') => {
      const command = [process.execPath, conditions, name];
      const stop = await startOnPort(ports.get(shownPort) ?? 0, command, folder);
      onTestFinished(async () => void (await stop('SIGKILL')));
    },
    shell,
    onPorts,
    /** Runs the `curl` commands of a text, each of which must print the comment below it. */
    expectPrinted: async (
      lines: CurlLines,
      { env, comparable = (text: string) => text }: PrintedOptions = {},
    ) => {
      for (const [line, expected] of noCurl ? [] : lines) {
        const output = comparable(await shell(line, env)).trimEnd();
        // With `-i` the page shows one line of the response.
        const shown = line.startsWith('curl -i ') ? output.split('\r\n') : [output];
        expect({ line, shown }).toEqual({ line, shown: expect.arrayContaining([comparable(expected)]) });
      }
    },
  };
}
