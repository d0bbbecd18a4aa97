import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { lives } from './lives.ts';
import { startProcess } from './startProcess.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const module = JSON.stringify(fileURLToPath(new URL('startProcess.ts', import.meta.url)));

/** A process that prints its id, and whose event loop then hangs. */
const hanging = JSON.stringify(
  `require('fs').writeSync(1, 'started ' + process.pid + ' '); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
);
/** A module that starts it. */
const starter = `import { startProcess } from ${module};
  startProcess(process.execPath, ['--eval', ${hanging}], { stdio: ['ignore', 'inherit', 'ignore'] });`;

/** The id of the process that another has started, which it prints on its stdout. */
async function startedBy({ stdout }: ReturnType<typeof startProcess>): Promise<number> {
  let printed = '';
  for await (const text of stdout ?? []) {
    printed += String(text);
    const [, pid] = /started (\d+) /.exec(printed) ?? [];
    if (pid !== undefined) return Number(pid);
  }
  throw new Error(`It has started none: ${printed}`);
}

const isGone = (pid: number) => vi.waitFor(() => expect(lives(pid)).toBe(false));

describe.runIf(process.platform === 'linux')('a process that a test started, whose event loop hangs,', () => {
  test('ends when the process that runs the test is killed', async () => {
    const parent = startProcess(process.execPath, ['--input-type=module', '--eval', starter]);
    const pid = await startedBy(parent);
    expect(lives(pid)).toBe(true);
    parent.kill('SIGKILL');
    await isGone(pid);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'ends when vitest is ended by %s in the middle of the test',
    async (signal) => {
      const folder = await mkdtemp(join(root, 'node_modules/.test-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      await mkdir(join(folder, 'tests'));
      const never = `import { expect, test } from 'vitest'; ${starter}
          test('that fails', () => expect(1).toBe(2));
          test('that is never done', () => new Promise(() => {}), 600_000);`;
      await writeFile(join(folder, 'tests/never.test.ts'), never);
      const vitest = join(root, 'node_modules/vitest/vitest.mjs');
      const runner = startProcess(process.execPath, [
        vitest,
        'run',
        '--root',
        folder,
        '--disable-console-intercept',
        `--reporter=${join(root, 'packages/testing/src/failuresAsTheyHappen.ts')}`,
      ]);
      let errors = '';
      runner.stderr?.on('data', (text) => (errors += String(text)));
      const pid = await startedBy(runner);
      await vi.waitFor(() => expect(errors).toContain('FAILED'));
      expect(lives(pid)).toBe(true);
      runner.kill(signal);
      await isGone(pid);
      // Ctrl-C in a terminal.
      expect(errors.includes('Failed: || tests/never.test.ts > that fails')).toBe(signal === 'SIGINT');
    },
  );
});

test('a file that starts processes leaves no listener when they have ended: others that share its process do so too', async () => {
  const before = process.listenerCount('exit');
  // Vitest evaluates it for each file.
  vi.resetModules();
  const again = await import('./startProcess.ts');
  const child = again.startProcess(process.execPath, ['--eval', '']);
  expect(process.listenerCount('exit')).toBe(before + 1);
  await once(child, 'exit');
  expect(process.listenerCount('exit')).toBe(before);
});
