import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import type { CommandResult } from 'trpc-gateway/command';
import type { ReadOutputs } from './outputs/describeOutputs.ts';
import { readOutputs } from './outputs/readOutputs.ts';
import { TypegenError } from './typegenError.ts';

export const usage = `Usage: trpc-gateway-typegen --router FILE [options]
       trpc-gateway-typegen outputs --router FILE [--export NAME] [--project FILE] [--out FILE [--check]]

The first prints the types of a tRPC router as one TypeScript file with doc comments, which imports only types of @trpc/server.
Clients need neither the server's code nor zod. The second prints JSON Schemas of what procedures return, as the compiler infers it,
for the option outputs of createGateway: for procedures without an output schema. It reads types, and runs nothing.

  --router FILE        The module that exports the router, in TypeScript or JavaScript.
                       Exported schemas with an id become types even if no procedure uses them.
  --export NAME        The name of the exported router. Default: the only one, or else default or appRouter.
  --out FILE           The file to write. Its folder is created if missing. Default: stdout.
  --check              Write nothing, and exit with 1 if FILE is out of date.
  --error-shape NAME   The shape of the errorFormatter's output: an exported zod schema, or 'default' if it keeps the
                       shape of tRPC.
  --unknown PATH       Print unknown for an input or output of this procedure, such as comments.add, whose type is not
                       known at run time. May be repeated. Default: such a procedure is an error.
  --infer-outputs      Take the types of outputs without an output schema from the compiler: of a router without a transformer.
  --unknown-outputs    Print unknown for every output without an output schema.
`;

/** The options of both commands. */
const sharedOptions = {
  router: { type: 'string' },
  export: { type: 'string' },
  out: { type: 'string' },
  check: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface SharedValues {
  readonly router?: string;
  readonly out?: string;
  readonly check: boolean;
  readonly help: boolean;
}

interface Generated {
  readonly text: string;
  /** What of a text is compared: formatters change the rest. Default: all. */
  readonly content?: (text: string) => string;
  readonly open: ReadOutputs['open'];
}

/** Runs `trpc-gateway-typegen` with its arguments. */
export async function typesCommand(argv: readonly string[]): Promise<CommandResult> {
  try {
    return await (argv[0] === 'outputs' ? runOutputs(argv.slice(1)) : runTypes([...argv]));
  } catch (error) {
    const { isArgumentError, ModuleError } = await import('trpc-gateway/command');
    if (isArgumentError(error)) return { stderr: `${error.message}\n\n${usage}`, code: 2 };
    if (error instanceof TypegenError || error instanceof ModuleError) {
      return { stderr: `${error.message}\n`, code: 1 };
    }
    throw error;
  }
}

async function run(
  { check, help, out, router: file }: SharedValues,
  generate: (file: string) => Promise<Generated>,
): Promise<CommandResult> {
  if (help) return { stdout: usage, code: 0 };
  if (file === undefined || (check && out === undefined)) return { stderr: usage, code: 2 };
  const { content = (same: string) => same, open, text } = await generate(file);
  let result: CommandResult = { stdout: text, code: 0 };
  if (out !== undefined && check) {
    const current = await readFile(out, 'utf8').catch(() => undefined);
    const isCurrent = current !== undefined && content(current) === content(text);
    const stale = `${out} does not match ${file}. Run the same command without --check to update it.\n`;
    result = isCurrent ? { code: 0 } : { stderr: stale, code: 1 };
  } else if (out !== undefined) {
    await write(out, text);
    result = { stderr: `Wrote ${out}.\n`, code: 0 };
  }
  const stderr = [...open.map((line) => `left open: ${line}\n`), result.stderr ?? ''].join('');
  return stderr === '' ? result : { ...result, stderr };
}

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw new TypegenError(`${file} cannot be written: ${message}. Name another file with --out.`, {
      cause: error,
    });
  }
}

function runOutputs(args: string[]): Promise<CommandResult> {
  const { values } = parseArgs({ args, options: { ...sharedOptions, project: { type: 'string' } } });
  return run(values, async (file) => {
    const { open, outputs } = await readOutputs({ file, name: values.export, project: values.project });
    return { open, text: `${JSON.stringify(outputs, undefined, 2)}\n`, content: compact };
  });
}

/** Returns JSON without white space; another text as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function runTypes(args: string[]): Promise<CommandResult> {
  const { values } = parseArgs({
    args,
    options: {
      ...sharedOptions,
      'error-shape': { type: 'string' },
      unknown: { type: 'string', multiple: true },
      'infer-outputs': { type: 'boolean', default: false },
      'unknown-outputs': { type: 'boolean', default: false },
    },
  });
  return run(values, async (file) => {
    // Not at the top: what it imports takes 20 MB beside the compiler.
    const { printTypes } = await import('./printTypes.ts');
    return printTypes(file, values);
  });
}
