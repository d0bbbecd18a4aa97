import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { startProcess } from './startProcess.ts';
import { temporaryFolder } from './temporaryFolder.ts';

test('Ctrl-C prints the names of the tests that have failed', async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, 'never.test.ts'),
    `test('that fails', () => expect(1).toBe(2));
    test('that is never done', () => new Promise(() => {}), 600_000);`,
  );
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const reporter = fileURLToPath(new URL('failuresAsTheyHappen.ts', import.meta.url));
  const options = ['--globals', '--root', folder, `--reporter=${reporter}`];
  const runner = startProcess(process.execPath, [vitest, 'run', ...options]);
  let errors = '';
  runner.stderr?.on('data', (text) => (errors += String(text)));
  await vi.waitFor(() => expect(errors).toContain('FAILED'));
  runner.kill('SIGINT');
  await vi.waitFor(() => expect(errors).toContain('Failed: || never.test.ts > that fails'));
  runner.kill('SIGKILL');
});
