import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { callMcp, start, testProject } from './testProject.ts';

/** A code base with aliases of `tsconfig.json`, imports without an extension and an enum. */
const shape = fileURLToPath(
  new URL('../../../../packages/gateway/test/command/shapes/kanban', import.meta.url),
);

it('npx trpc-gateway serve loads TypeScript without a loader in a package of each type, and serves the docs page', async () => {
  const packages = ['trpc-gateway', 'trpc-gateway-runtime', '@trpc/server', 'superjson', 'zod'];
  const project = await testProject(packages);
  const { folder, run } = project;
  await cp(shape, folder, { recursive: true, filter: (path) => !path.endsWith('package.json') });
  const options = ['src/server/root.ts', '--context', 'src/server/trpc.ts', '--port', '0'];
  const command = [join(folder, 'node_modules/.bin/trpc-gateway'), 'serve', ...options];
  for (const type of ['type=commonjs', 'type=module', undefined]) {
    await run('npm', 'pkg', ...(type === undefined ? ['delete', 'type'] : ['set', type]));
    const { text } = await start(project, command, /A server of your own/);
    const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    const page = await fetch(`${origin}/docs`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
    const board = { publicId: '7', name: 'Board 7' };
    expect(await (await fetch(`${origin}/v1/boards/7`)).json()).toMatchObject(board);
    const input = encodeURIComponent('{"json":{"publicId":"7"}}');
    const called = await fetch(`${origin}/trpc/board.byId?input=${input}`);
    expect(await called.json()).toMatchObject({ result: { data: { json: board } } });
    const params = { name: 'board_byId', arguments: { publicId: '7' } };
    const tool = await callMcp(origin, 'tools/call', params);
    const content = [{ text: expect.stringContaining(board.name) as string }];
    expect(tool).toMatchObject({ result: { content } });
  }
});
