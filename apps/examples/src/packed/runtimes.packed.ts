import { debian13Runtimes, runtimes } from '@petstore/testing/runtimes';
import { glob, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ofThisRun } from './ofThisRun.ts';
import { publishedPackages } from './packages.ts';
import { testProject } from './testProject.ts';
import { resolutions, tsconfig } from './tsconfig.ts';

const core = '@uwsjs/core@20.69.0';
const newest = Object.entries(debian13Runtimes()).map(([name, node]) => ({
  title: `${name.replace('node', 'Node ')} on Debian 13`,
  node,
  uws: core,
  loaded: '@uwsjs/core 20.69.0',
}));
/** On the C library of this system. */
const { node22 } = runtimes();
const older = { uws: 'uWebSockets.js@npm:uws-pack@20.0.8', loaded: 'uws-pack 20.0.8' };
const nodes = [...newest, ...(node22 === undefined ? [] : [{ title: 'Node 22', node: node22, ...older }])];
const setups = [
  ...nodes.map((on) => ({ on, manager: 'npm' as const })),
  // Its packages see only their own dependencies.
  ...newest.slice(0, 1).map((on) => ({ on, manager: 'pnpm' as const })),
];

/** As in the README of @petstore/embedded-store: npm warns about the install scripts of these packages, which are not needed here. */
const allowScripts = { lmdb: false, 'msgpackr-extract': false };

const program = `
  import { createGateway } from 'trpc-gateway';
  import * as node from 'trpc-gateway/node';
  import * as uws from 'trpc-gateway/uws';
  import { initTRPC } from '@trpc/server';
  import { z } from 'zod';

  const t = initTRPC.meta().create({ isDev: false });
  const openapi = { method: 'GET', path: '/books/{id}' };
  const book = t.procedure.meta({ openapi }).input(z.object({ id: z.int() })).output(z.string()).query(({ input }) => \`book \${input.id}\`);
  const gateway = await createGateway({
    router: t.router({ book }),
    createContext: () => ({}),
    document: { title: 'Books', version: '1.0.0' },
  });
  for (const { serve } of [node, uws]) {
    const { port, close } = await serve(gateway, { port: 0 });
    const response = await fetch(\`http://127.0.0.1:\${port}/v1/books/7\`);
    console.log(response.status, await response.text());
    await close({ graceMs: 0 });
  }
  console.log(uws.uwsVersion);
`;

it.each(ofThisRun(setups))(
  'on $on.title with $manager all packages and uWebSockets.js install without a warning, compile and run',
  async ({ on: { node, uws, loaded }, manager }) => {
    const { run, warnings, write } = await testProject(
      [...publishedPackages, '@trpc/server', 'zod', 'typescript', '@types/node', uws],
      { node, manager, manifest: { allowScripts } },
    );
    expect(warnings).toEqual([]);
    await write({
      'serve.mts': program,
      'router.ts': "export { appRouter } from '@petstore/core';",
      'store.mts': `
      import { type Animal, appRouter, collections } from '@petstore/core';
      import { openMongodbStore } from '@petstore/core/store/mongodb';
      import { openEmbeddedStore } from '@petstore/embedded-store';
      import type { Pets } from '@petstore/types';
      import { ResponseControls } from 'trpc-gateway';
      import { healthRoutes } from 'trpc-gateway-runtime/health';

      const store = await openEmbeddedStore({ dataDir: 'data', collections });
      const context = { store, response: new ResponseControls(), caller: undefined, idempotencyKey: undefined };
      const rex: Animal & Pets[number] = await appRouter.createCaller(context).createPet({ name: 'Rex', categoryId: 1 });
      console.log(JSON.stringify(rex), typeof openMongodbStore, typeof healthRoutes);
      await store.close();
    `,
    });
    for (const resolution of resolutions) {
      await write({ 'tsconfig.json': tsconfig(resolution, 'serve.mts', 'store.mts') });
      // @petstore/core depends on trpc-to-openapi, whose declarations import packages that are not installed.
      await run('tsc', '--skipLibCheck', '--singleThreaded');
    }
    expect(await run('node', 'serve.mts')).toEqual({
      stdout: `200 "book 7"\n200 "book 7"\n${loaded}\n`,
      stderr: '',
    });
    expect(await run('node', 'store.mts')).toEqual({
      stdout: '{"id":1,"name":"Rex","categoryId":1} function function\n',
      stderr: '',
    });
    const options = '--router router.ts --out types.ts --error-shape default';
    await run('trpc-gateway-typegen', ...options.split(' '));
  },
);

// The gateway's own tests have the other reasons why the adapter does not load.
it('without the binary of @uwsjs/core, the import of the adapter says how to install it', async () => {
  const options = ['--omit=optional'];
  const { run, warnings, write } = await testProject(['trpc-gateway', '@trpc/server', 'zod', core], {
    options,
  });
  expect(warnings).toEqual([]);
  await write({ 'serve.mts': program });
  await expect(run('node', 'serve.mts')).rejects.toThrow(
    /^NoBinaryError: @uwsjs\/core 20\.69\.0 is installed without @uwsjs\/\S+, its binary for Node v2\d/m,
  );
});

it('the gateway and its dependencies add at most 15 MB to its peers, and 25 MB with uWebSockets.js', async () => {
  const packages = ['@trpc/server', 'zod', 'trpc-gateway', core];
  const { folder } = await testProject(packages, { node: newest[0]?.node ?? process.execPath });
  const bytes = { own: 0, uws: 0 };
  for await (const path of glob('node_modules/**', { cwd: folder })) {
    const stats = await lstat(join(folder, path));
    // TypeScript is a peer of tRPC.
    if (!stats.isFile() || /^node_modules\/(?:@trpc|@?typescript|zod)\//.test(path)) continue;
    bytes[path.startsWith('node_modules/@uwsjs/') ? 'uws' : 'own'] += stats.size;
  }
  const [own, uws] = [bytes.own / 1e6, bytes.uws / 1e6];
  process.stdout.write(`The gateway adds ${own.toFixed(1)} MB, uWebSockets.js ${uws.toFixed(1)} MB.\n`);
  expect(own).toBeLessThanOrEqual(15);
  expect(own + uws).toBeLessThanOrEqual(25);
});

it.each([
  ['Windows', ['--os=win32', '--cpu=x64']],
  ['musl', ['--libc=musl']],
])('the gateway installs without a warning on %s, as simulated by npm', async (_, options) => {
  const { warnings } = await testProject(['trpc-gateway', '@trpc/server', 'zod'], {
    options: ['--dry-run', ...options],
  });
  expect(warnings).toEqual([]);
});
