import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { UnavailableError } from './unavailableError.ts';

const folder = fileURLToPath(new URL('../bun/', import.meta.url));
const run = promisify(execFile);

let bun: Promise<string> | undefined;

/**
 * Bun's binary, of the npm package, which is installed where it is not there yet. It is no dependency of the workspace:
 * 100 MB for every developer, that two contenders need.
 * @throws {UnavailableError} where it cannot be installed, or does not run here
 */
export const findBun = (): Promise<string> => (bun ??= install());

/** Bun's binary where it is there already. */
export async function installedBun(): Promise<string | undefined> {
  // Not the package's own launcher, which its install script puts in place: the binaries need no script.
  const builds =
    process.platform === 'linux' && process.arch === 'x64' ? ['x64', 'x64-baseline'] : [process.arch];
  for (const build of builds) {
    const binary = `${folder}node_modules/@oven/bun-${process.platform}-${build}/bin/bun`;
    const runs = await run(binary, ['--version']).then(
      () => true,
      () => false,
    );
    if (runs) return binary;
  }
  return undefined;
}

async function install(): Promise<string> {
  try {
    const there = await installedBun();
    if (there !== undefined) return there;
    process.stderr.write('Installing Bun for two of the contenders (packages/bench/bun) ...\n');
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    const binary = await installedBun();
    if (binary === undefined)
      throw new Error(`no build of it runs on this ${process.platform} ${process.arch}`);
    return binary;
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new UnavailableError(`Bun is not available: ${reason}`, { cause });
  }
}
