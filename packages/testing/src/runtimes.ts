import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The executables of runtimes, by name: `node22`, `node24`, `node26`, `bun`, `deno` and `workerd`, as far as npm has them for this machine. */
export type Runtimes = Readonly<Record<string, string>>;

/** What `.ci/runtimes` installs. @throws {Error} if npm lacks one, and `REQUIRE_RUNTIMES` is set, as in CI */
export function runtimes(): Runtimes {
  const installed = printedRuntimes('runtimes');
  const missing = Object.keys(titles).filter((name) => installed[name] === undefined);
  if (missing.length > 0 && process.env['REQUIRE_RUNTIMES'] !== undefined)
    throw new Error(`.ci/runtimes has no ${missing.join(', ')} for this machine.`);
  return installed;
}

/** Node 22, 24 and 26 on the C library of Debian 13, which `.ci/debian13` installs. None on another system than Linux on x64. */
export function debian13Runtimes(): Runtimes {
  return process.platform === 'linux' && process.arch === 'x64' ? printedRuntimes('debian13') : {};
}

function printedRuntimes(name: string): Runtimes {
  const script = fileURLToPath(new URL(`../../../.ci/${name}`, import.meta.url));
  const lines = execFileSync(script, { encoding: 'utf8' }).trimEnd().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]),
  ) as Runtimes;
}

/** How a test's title names each. */
const titles: Readonly<Record<string, string>> = {
  node24: 'Node 24',
  node26: 'Node 26',
  bun: 'Bun',
  deno: 'Deno',
  workerd: 'workerd',
};

/** A runtime that a test starts processes on. */
export interface NamedRuntime {
  readonly name: string;
  readonly title: string;
  readonly executable: string;
}

/** Returns those of `names` if `PETSTORE_TESTS` is set, otherwise none. If npm has none for this machine, a line says so. */
export function runtimesToTest(...names: readonly string[]): readonly NamedRuntime[] {
  if (process.env['PETSTORE_TESTS'] === undefined) {
    process.stderr.write(
      'SKIPPED: cases on other runtimes, since PETSTORE_TESTS is not set: PETSTORE_TESTS=all runs them.\n',
    );
    return [];
  }
  const installed = runtimes();
  return names.flatMap((name) => {
    const executable = installed[name];
    const title = titles[name] ?? name;
    if (executable !== undefined) return [{ name, title, executable }];
    process.stderr.write(`SKIPPED: cases on ${title}. .ci/runtimes has none for this machine.\n`);
    return [];
  });
}
