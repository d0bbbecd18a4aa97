import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('loadSheddingPolicy does not load undici, which takes 6 MB', async () => {
  const from = JSON.stringify(new URL('loadShedding.ts', import.meta.url).href);
  const code = `
    import { loadSheddingPolicy } from ${from};
    const { arrive } = loadSheddingPolicy(50);
    arrive();
    // After 50 ms, the message of the first probe has arrived.
    setTimeout(() => console.log(arrive(), process.moduleLoadList.filter((name) => name.endsWith('undici/undici'))), 50);
  `;
  const flags = ['--conditions=@petstore/source', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(stdout).toBe('undefined []\n');
});
