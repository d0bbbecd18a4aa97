import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { describe, expect, it } from 'vitest';
import { generateTypes } from './generateTypes.ts';
import * as example from './testing/exampleRouter.ts';
import { typesCommand, usage } from './typesCommand.ts';

const router = fileURLToPath(new URL('testing/exampleRouter.ts', import.meta.url));
const outputs = fileURLToPath(new URL('outputs/testing/routers.ts', import.meta.url));

const partly = ['--router', router, '--export', 'partlyRouter'];

describe('trpc-gateway-typegen', () => {
  it('trpc-gateway-typegen prints the types of the router that a module exports', async () => {
    expect(await typesCommand(['--router', router, '--export', 'otherRouter'])).toEqual({
      stdout: await generateTypes(example.otherRouter, { exports: example }),
      code: 0,
    });
  });

  it('trpc-gateway-typegen --out writes a file, and --check compares it with the router', async () => {
    // In folders that are missing.
    const out = join(await temporaryFolder(), 'src', 'generated', 'types.ts');
    const command = ['--router', router, '--export', 'bookRouter', '--error-shape', 'Problem', '--out', out];
    const stale = {
      stderr: `${out} does not match ${router}. Run the same command without --check to update it.\n`,
      code: 1,
    };
    expect(await typesCommand([...command, '--check'])).toEqual(stale);
    expect(await typesCommand(command)).toEqual({ stderr: `Wrote ${out}.\n`, code: 0 });
    expect(await readFile(out, 'utf8')).toContain('export type Book = {');
    expect(await typesCommand([...command, '--check'])).toEqual({ code: 0 });
    await writeFile(out, `${await readFile(out, 'utf8')} `);
    expect(await typesCommand([...command, '--check'])).toEqual(stale);
  });

  it('trpc-gateway-typegen --infer-outputs takes types of outputs without a schema from the compiler', async () => {
    const named = await typesCommand(['--router', outputs, '--export', 'namedRouter', '--infer-outputs']);
    expect(named.stdout).toContain('pet: QueryProcedure<void, Pet>;');
    expect(named.stdout).toContain('/** An animal. */\nexport type Pet = {');
    const events = await typesCommand(['--router', outputs, '--export', 'eventRouter', '--infer-outputs']);
    expect(events.stdout).toContain('plain: SubscriptionProcedure<void, AsyncIterable<number, void>>;');
    const open = await typesCommand(['--router', outputs, '--export', 'openRouter', '--infer-outputs']);
    expect(open.stderr).toContain('left open: any: the output is any\n');
    expect(open.stdout).toContain('any: QueryProcedure<void, unknown>;');
    expect(open.stdout).toContain('unknown: QueryProcedure<void, { list: unknown[] }>;');
  });

  it('trpc-gateway-typegen --infer-outputs takes names that are keywords of JSON Schema for names', async () => {
    const inferred = (name: string) =>
      typesCommand(['--router', outputs, '--export', name, '--infer-outputs']);
    const { stdout } = await inferred('keywordRouter');
    expect(stdout).toContain('description: QueryProcedure<void, { description: string }>;');
    expect(stdout).toContain('not: QueryProcedure<void, { not: { properties: { type: string } } }>;');
    expect(stdout).toContain('absent: QueryProcedure<void, { [Key in string]: never }>;');
    expect((await inferred('descriptionRouter')).stdout).toContain(
      'description: QueryProcedure<void, Page_Pet>;',
    );
  });

  it('trpc-gateway-typegen --out fails with a one-line message and the reason if the file cannot be written', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    const out = join(folder, 'file', 'index.ts');
    const command = ['--router', router, '--export', 'otherRouter', '--out', out];
    const { stderr, code } = await typesCommand(command);
    expect(stderr).toMatch(
      /^.*index\.ts cannot be written: E[A-Z]+: [^\n]*\. Name another file with --out\.\n$/,
    );
    expect(code).toBe(1);
  });

  it('trpc-gateway-typegen names all procedures whose types are not known, and --unknown prints unknown for them', async () => {
    const { stderr: all } = await typesCommand(partly);
    expect(all?.split('\n')).toEqual([
      'Procedure "a": the type of its output is not known at run time. Add an output schema: .output(…), or read it from the types: --infer-outputs, for routers without a transformer. The same is true of 1 more: "e".',
      expect.stringMatching(/^Procedure "c": the type of its events is not known at run time\./),
      expect.stringMatching(/^Procedure "d": the type of output cannot be printed: /),
      'To print these types as unknown instead, add: --unknown a --unknown c --unknown d --unknown e',
      'To print every output without an output schema as unknown, add: --unknown-outputs',
      '',
    ]);
    const command = [...partly, '--unknown', 'a', '--unknown', 'c', '--unknown', 'd'];
    const { code, stderr } = await typesCommand(command);
    expect([code, stderr]).toEqual([
      1,
      'Procedure "e": the type of its output is not known at run time. Add an output schema: .output(…), or read it from the types: --infer-outputs, for routers without a transformer.\n',
    ]);
    const { stdout } = await typesCommand([...command, '--unknown', 'e']);
    expect(stdout).toContain('a: QueryProcedure<{ id: number }, unknown>;');
    expect(stdout).toContain('e: MutationProcedure<void, unknown>;');
  });

  it('trpc-gateway-typegen --unknown-outputs prints unknown for outputs without a schema only', async () => {
    const { stderr } = await typesCommand([...partly, '--unknown-outputs']);
    expect(stderr).toMatch(/^Procedure "d": the type of output cannot be printed: [^\n]*\n$/);
    const { stdout } = await typesCommand([...partly, '--unknown-outputs', '--unknown', 'd']);
    expect(stdout).toContain(`{
    a: QueryProcedure<{ id: number }, unknown>;
    b: QueryProcedure<void, string>;
    c: SubscriptionProcedure<void, unknown>;
    d: MutationProcedure<void, unknown>;
    e: MutationProcedure<void, unknown>;
  }`);
  });

  it('trpc-gateway-typegen --error-shape default uses tRPC’s own error shape', async () => {
    const command = ['--router', router, '--export', 'bookRouter', '--error-shape', 'default'];
    const { stdout } = await typesCommand(command);
    expect(stdout).toContain('errorShape: TRPCDefaultErrorShape;');
  });

  it.each([
    [
      ['--router', router],
      `${router} exports several routers. Choose one of bookRouter, otherRouter, partlyRouter with --export.`,
    ],
    [['--router', router, '--export', 'Book'], `${router} exports no tRPC router named Book.`],
    [
      ['--router', router, '--export', 'bookRouter', '--error-shape', 'Nothing'],
      `${router} exports no zod schema named Nothing.`,
    ],
    [
      ['--router', router, '--export', 'bookRouter'],
      'The router has an errorFormatter, so the shape of its errors is not known. Set errorShape (--error-shape) to a zod schema of its output, or to `default` if it keeps the shape of tRPC.',
    ],
    [
      [...partly, '--unknown', 'z'],
      'The router has no procedure "z". Write the path as clients do, such as posts.list, or remove it (--unknown).',
    ],
    [['--router', '/nowhere/router.ts'], '/nowhere/router.ts does not exist. Name the module by its path.'],
  ])('trpc-gateway-typegen %j fails with an error message', async (argv, message) => {
    const { stderr, code } = await typesCommand(argv);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });

  it.each([[], ['--router', router, '--check']])(
    'trpc-gateway-typegen %j prints its usage and exits with code 2, and with --help with 0',
    async (...argv) => {
      for (const command of [argv, ['outputs', ...argv]]) {
        expect(await typesCommand(command)).toEqual({ stderr: usage, code: 2 });
        expect(await typesCommand([...command, '--help'])).toEqual({ stdout: usage, code: 0 });
      }
    },
  );

  it.each([
    [['types', '--router', router], "Unexpected argument 'types'"],
    [['--routr', router], "Unknown option '--routr'"],
  ])('trpc-gateway-typegen %j names what it does not know and prints its usage', async (argv, message) => {
    const { stderr, code } = await typesCommand(argv);
    expect(stderr).toContain(message);
    expect(stderr).toContain(usage);
    expect(code).toBe(2);
  });

  it('the trpc-gateway-typegen process exits although the router’s module keeps a timer', async () => {
    const module = join(await temporaryFolder(), 'open.ts');
    await writeFile(
      module,
      `export { otherRouter } from ${JSON.stringify(router)};\nsetInterval(() => {}, 1000);\n`,
    );
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--conditions=trpc-gateway-source',
      main,
      '--router',
      module,
    ]);
    expect(stdout).toBe(await generateTypes(example.otherRouter));
  });
});
