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

it('npx trpc-gateway serve loads TypeScript without a loader in a package of each type, and serves the docs page', async () => {
  const { folder, run, remove } = await newProject(packed, [
    'trpc-gateway',
    'trpc-gateway-runtime',
    '@trpc/server',
    'superjson',
    'zod',
  ]);
  onTestFinished(() => remove());
  await cp(shape, folder, { recursive: true, filter: (path) => !path.endsWith('package.json') });
  for (const type of ['type=commonjs', 'type=module', undefined]) {
    await run('npm', 'pkg', ...(type === undefined ? ['delete', 'type'] : ['set', type]));
    const args = ['serve', 'src/server/root.ts', '--context', 'src/server/trpc.ts', '--port', '0'];
    const child = startProcess(join(folder, 'node_modules/.bin/trpc-gateway'), args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    for await (const text of child.stdout ?? []) {
      printed += String(text);
      if (printed.includes('A server of your own')) break;
    }
    const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    const page = await fetch(`${origin}/docs`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
    const board = { publicId: '7', name: 'Board 7' };
    expect(await (await fetch(`${origin}/v1/boards/7`)).json()).toMatchObject(board);
    const input = encodeURIComponent('{"json":{"publicId":"7"}}');
    const called = await fetch(`${origin}/trpc/board.byId?input=${input}`);
    expect(await called.json()).toMatchObject({ result: { data: { json: board } } });
    const tool = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'board_byId', arguments: { publicId: '7' } },
      }),
    });
    expect(await tool.json()).toMatchObject({ result: { structuredContent: board } });
  }
});
