import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CommandResult } from 'trpc-gateway/command';
import { TypegenError } from './typegenError.ts';

export interface Generated {
  readonly text: string;
  /** The file that it was generated from. */
  readonly file: string;
  /** The file to write; `undefined` for stdout. */
  readonly out: string | undefined;
  /** Whether to compare the file, and not to write it. */
  readonly check: boolean;
  /** What of a text is compared: formatters change the rest. Default: all. */
  readonly content?: (text: string) => string;
}

export async function writeOrCheck({
  check,
  content = (same) => same,
  file,
  out,
  text,
}: Generated): Promise<CommandResult> {
  if (out === undefined) return { stdout: text, code: 0 };
  if (!check) {
    await write(out, text);
    return { stderr: `Wrote ${out}.\n`, code: 0 };
  }
  const current = await readFile(out, 'utf8').catch(() => undefined);
  return current !== undefined && content(current) === content(text)
    ? { code: 0 }
    : {
        stderr: `${out} does not match ${file}. Run the same command without --check to update it.\n`,
        code: 1,
      };
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
