import { fileURLToPath } from 'node:url';
import { commandMissing } from '@petstore/testing/commandMissing';
import { freePort } from '@petstore/testing/freePort';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, test } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

const noCurl = commandMissing('curl');

const readme = await readReadme('apps/examples/src/oneLogin/README.md');
const main = fileURLToPath(new URL('../oneLogin/main.ts', import.meta.url));

test.skipIf(noCurl)('the commands in the README of the login print what it says', async () => {
  const port = String(await freePort());
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', main], {
    env: { PATH: process.env['PATH'], PORT: port },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  for await (const text of child.stdout ?? []) {
    printed += String(text);
    if (/^KEY=.+\n/m.test(printed)) break;
  }
  const [, key = ''] = /^KEY=(.+)$/m.exec(printed) ?? [];
  const { shell } = await newSnippets();
  const lines = curlLines(readme.text);
  expect(lines).toHaveLength(2);
  for (const [line, expected] of lines) {
    const output = await shell(line.replaceAll('3004', port), { KEY: key });
    expect([line, output.replaceAll(/(?<="author":")[^"]+/g, '…')]).toEqual([line, expected]);
  }
});
