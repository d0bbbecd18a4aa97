import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, inject, it, onTestFinished } from 'vitest';
import { newProject } from './packages.ts';

const packed = inject('packed');
/** A code base with aliases of `tsconfig.json`, imports without an extension and an enum. */
const shape = fileURLToPath(
  new URL('../../../../packages/gateway/test/command/shapes/kanban', import.meta.url),
);

it('npx trpc-gateway serve says that a code base needs tsx, uses it once it is installed, and serves the docs page', async () => {
  const { folder, run, remove } = await newProject(packed, [
    'trpc-gateway',
    'trpc-gateway-runtime',
    '@trpc/server',
    'superjson',
    'zod',
  ]);
  onTestFinished(() => remove());
  await cp(shape, folder, { recursive: true, filter: (path) => !path.endsWith('package.json') });
  const start = () => {
    const args = ['serve', 'src/server/root.ts', '--context', 'src/server/trpc.ts', '--port', '0'];
    const child = startProcess(join(folder, 'node_modules/.bin/trpc-gateway'), args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };

  const failing = start();
  let error = '';
  failing.stderr?.on('data', (text) => (error += String(text)));
  expect(await once(failing, 'close')).toEqual([1, null]);
  expect(error).toMatch(/^src\/server\/root\.ts cannot be loaded: .*'~.*Run npm install --save-dev tsx, /);

  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--save-dev', 'tsx@4.23.15');
  let printed = '';
  for await (const text of start().stdout ?? []) {
    printed += String(text);
    if (printed.includes('A server of your own')) break;
  }
  const [docs = ''] = /http:\/\/127\.0\.0\.1:\d+\/docs/.exec(printed) ?? [];
  const page = await fetch(docs);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
  const board = await fetch(docs.replace('/docs', '/v1/boards/7'));
  expect(await board.json()).toMatchObject({ publicId: '7', name: 'Board 7' });
});
