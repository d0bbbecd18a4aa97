import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateTypes } from './generateTypes.ts';
import * as example from './testing/exampleRouter.ts';
import { typesCommand, usage } from './typesCommand.ts';

const router = fileURLToPath(new URL('testing/exampleRouter.ts', import.meta.url));

describe('petstore-typegen', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'types-command-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('prints the types of the router that a module exports', async () => {
    expect(await typesCommand(['--router', router, '--export', 'otherRouter'])).toEqual({
      stdout: await generateTypes(example.otherRouter, { exports: example }),
      code: 0,
    });
  });

  it('writes them to a file, and checks a file against the router', async () => {
    const out = join(folder, 'types.ts');
    const command = ['--router', router, '--export', 'bookRouter', '--error-shape', 'Problem', '--out', out];
    const stale = {
      stderr: `${out} is not what ${router} says now: run the same command without --check.\n`,
      code: 1,
    };
    expect(await typesCommand([...command, '--check'])).toEqual(stale);
    expect(await typesCommand(command)).toEqual({ stderr: `Wrote ${out}.\n`, code: 0 });
    expect(await readFile(out, 'utf8')).toContain('export type Book = {');
    expect(await typesCommand([...command, '--check'])).toEqual({ code: 0 });
    await writeFile(out, `${await readFile(out, 'utf8')} `);
    expect(await typesCommand([...command, '--check'])).toEqual(stale);
  });

  it('makes the folder that it writes to', async () => {
    const out = join(folder, 'src', 'generated', 'index.ts');
    const command = ['--router', router, '--export', 'otherRouter', '--out', out];
    expect(await typesCommand(command)).toEqual({ stderr: `Wrote ${out}.\n`, code: 0 });
    expect(await readFile(out, 'utf8')).toContain('export');
  });

  it('says in a sentence that a file cannot be written, and why', async () => {
    await writeFile(join(folder, 'file'), '');
    const out = join(folder, 'file', 'index.ts');
    const command = ['--router', router, '--export', 'otherRouter', '--out', out];
    const { stderr, code } = await typesCommand(command);
    expect(stderr).toMatch(
      /^.*index\.ts cannot be written: E[A-Z]+: [^\n]*\. Name another file with --out\.\n$/,
    );
    expect(code).toBe(1);
  });

  it('takes the shape of errors for tRPC’s own where it is told so', async () => {
    const command = ['--router', router, '--export', 'bookRouter', '--error-shape', 'default'];
    const { stdout } = await typesCommand(command);
    expect(stdout).toContain('errorShape: TRPCDefaultErrorShape;');
  });

  it.each([
    [
      ['--router', router],
      `${router} exports several routers: choose one of bookRouter, otherRouter with --export.`,
    ],
    [['--router', router, '--export', 'Book'], `${router} exports no tRPC router by the name Book.`],
    [
      ['--router', router, '--export', 'bookRouter', '--error-shape', 'Nothing'],
      `${router} exports no zod schema by the name Nothing.`,
    ],
    [['--router', router, '--export', 'bookRouter'], "The shape of the router's errors is not known"],
    [['--router', '/nowhere/router.ts'], '/nowhere/router.ts cannot be loaded: '],
  ])('says what is wrong in a sentence: %j', async (argv, message) => {
    const { stderr, code } = await typesCommand(argv);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });

  it.each([[], ['--router', router, '--check']])('shows how it is used: %j', async (...argv) => {
    expect(await typesCommand(argv)).toEqual({ stderr: usage, code: 2 });
  });

  it('rejects a positional argument with its usage', async () => {
    const { stderr, code } = await typesCommand(['types', '--router', router]);
    expect(stderr).toContain("Unexpected argument 'types'");
    expect(stderr).toContain(usage);
    expect(code).toBe(2);
  });

  it('names an option that it does not know', async () => {
    const { stderr, code } = await typesCommand(['--routr', router]);
    expect(stderr).toContain("Unknown option '--routr'");
    expect(code).toBe(2);
  });

  it('runs as a process, which ends although the router’s module keeps something open', async () => {
    const module = join(folder, 'open.ts');
    await writeFile(
      module,
      `export { otherRouter } from ${JSON.stringify(router)};\nsetInterval(() => {}, 1000);\n`,
    );
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [main, '--router', module], {
      timeout: 15_000,
    });
    expect(stdout).toBe(await generateTypes(example.otherRouter));
  });
});
