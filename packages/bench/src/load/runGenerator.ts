import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadCore, onCore } from '../cores.ts';

const run = promisify(execFile);

/** Runs our own generator of load on its core, as a process, and gives what it printed. */
export async function runGenerator(options: object): Promise<unknown> {
  const generator = fileURLToPath(new URL('socketCalls.ts', import.meta.url));
  const [file, ...args] = onCore(loadCore, [process.execPath, generator, JSON.stringify(options)]);
  const { stdout } = await run(file, args, { env: { PATH: process.env['PATH'] } });
  return JSON.parse(stdout);
}
