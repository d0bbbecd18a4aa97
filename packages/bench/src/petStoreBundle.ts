import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

let built: Promise<string> | undefined;

/** The file that `npm start` runs, built first where sources have changed. */
export const petStoreBundle = (): Promise<string> => (built ??= build());

async function build(): Promise<string> {
  await run(`${root}node_modules/.bin/turbo`, ['run', 'build', '--filter=@petstore/server'], { cwd: root });
  return `${root}apps/server/dist/main.js`;
}
