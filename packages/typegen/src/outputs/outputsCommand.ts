import { parseArgs } from 'node:util';
import { TypegenError } from '../typegenError.ts';
import { type CommandResult, writeOrCheck } from '../writeOrCheck.ts';
import { readOutputs } from './readOutputs.ts';

/** Runs `trpc-gateway-typegen outputs`. */
export async function outputsCommand(argv: readonly string[]): Promise<CommandResult> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      router: { type: 'string' },
      export: { type: 'string' },
      project: { type: 'string' },
      out: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const { router: file, export: name, project, out, check } = values;
  if (file === undefined || (check && out === undefined))
    throw new TypegenError(
      'Name the file of the router with --router, and with --check the file to compare with --out.',
    );
  const { open, outputs } = await readOutputs({ file, name, project });
  const text = `${JSON.stringify(outputs, undefined, 2)}\n`;
  const { stderr = '', ...result } = await writeOrCheck({ text, file, out, check, content: compact });
  return { ...result, stderr: [...open.map((line) => `left open: ${line}\n`), stderr].join('') };
}

/** Returns JSON without white space; another text as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
