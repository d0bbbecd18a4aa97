import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const runExample = (...args: readonly string[]) => promisify(execFile)(process.execPath, [main, ...args]);

it('npm run example lists the examples without a name, and with an unknown one', async () => {
  const usage = 'npm run example shelter|login|answers\n';
  expect((await runExample()).stdout).toBe(usage);
  await expect(runExample('none')).rejects.toMatchObject({
    code: 2,
    stderr: `There is no example none: ${usage}`,
  });
});
