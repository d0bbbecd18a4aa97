import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The executables of other runtimes, by name: `node24`, `node26` and `bun`, as far as npm has them for this machine. */
export type Runtimes = Readonly<Record<string, string>>;

/** The runtimes of `.ci/runtimes`, which installs them outside the repository where they are missing. */
export function runtimes(): Runtimes {
  const script = fileURLToPath(new URL('../../../.ci/runtimes', import.meta.url));
  const lines = execFileSync(script, { encoding: 'utf8' }).trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]));
}
