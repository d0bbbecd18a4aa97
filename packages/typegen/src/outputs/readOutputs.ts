import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TypegenError } from '../typegenError.ts';
import type { ReadOutputs } from './describeOutputs.ts';
import type { RouterLocation } from './routerTypes.ts';

/** What the process prints as JSON: what it has read, or the message of a `TypegenError`. */
export type Printed = ReadOutputs | { readonly error: string };

const isSource = import.meta.url.endsWith('.ts');
const program = fileURLToPath(new URL(`outputsProcess.${isSource ? 'ts' : 'js'}`, import.meta.url));

/**
 * Reads JSON Schemas of what the procedures of a router return, from the types of its file. Nothing of it runs. It takes about as
 * long as a type check, in a process of its own: the compiler blocks it, and prints a line of its own when it is ended.
 * @throws {TypegenError} if the file exports no router, or the compiler fails
 */
export async function readOutputs(location: RouterLocation): Promise<ReadOutputs> {
  const conditions = isSource ? ['--conditions=trpc-gateway-source'] : [];
  const args = [...conditions, program, JSON.stringify(location)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 30 }).catch(
    ({ message, stderr = message }: Error & { readonly stderr?: string }) => {
      const [reason = message] = /(?<=^(?:\w*Error|FATAL ERROR): ).+/m.exec(stderr) ?? [];
      throw new TypegenError(`The types of ${location.file} cannot be read: ${reason}`);
    },
  );
  const printed = JSON.parse(stdout) as Printed;
  if ('error' in printed) throw new TypegenError(printed.error);
  return printed;
}
