import { runtimes } from '@petstore/testing/runtimes';
import { expect, inject, it, onTestFinished } from 'vitest';
import {
  dependencies,
  newProject,
  type Project,
  type ProjectOptions,
  publishedPackages,
} from './packages.ts';
import { resolutions, tsconfig } from './tsconfig.ts';

const packed = inject('packed');

const { node24, node26 } = runtimes();
const noBinary = /^NoBinaryError: No uWebSockets\.js binary is installed for Node v2[46]\..*\.$/;
const nodes = [
  { version: 22, node: process.execPath, onUws: /^200 "book 7"$/ },
  { version: 24, node: node24, onUws: noBinary },
  { version: 26, node: node26, onUws: noBinary },
].flatMap(({ node, ...rest }) => (node === undefined ? [] : [{ node, ...rest }]));

/** As in the README of @petstore/core: npm warns about the install scripts of these packages, which are not needed here. */
const allowScripts = { lmdb: false, 'msgpackr-extract': false };
const all = ['trpc-gateway', '@petstore/core', 'trpc-gateway-typegen', '@petstore/types'];

async function project(packages: readonly string[], options: ProjectOptions): Promise<Project> {
  const created = await newProject(packed, packages, options);
  onTestFinished(() => created.remove());
  return created;
}

const books = `
  import { createGateway } from 'trpc-gateway';
  import { initTRPC } from '@trpc/server';
  import { z } from 'zod';

  const t = initTRPC.meta().create({ isDev: false });
  const openapi = { method: 'GET', path: '/books/{id}' };
  const book = t.procedure.meta({ openapi }).input(z.object({ id: z.int() })).output(z.string()).query(({ input }) => \`book \${input.id}\`);
  export const gateway = await createGateway({
    router: t.router({ book }),
    createContext: () => ({}),
    document: { title: 'Books', version: '1.0.0' },
  });
`;
const serving = (adapter: string) => `
  import { serve } from 'trpc-gateway/${adapter}';
  import { gateway } from './books.mjs';

  const { port, close } = await serve(gateway, { port: 0 });
  const response = await fetch(\`http://127.0.0.1:\${port}/v1/books/7\`);
  console.log(response.status, await response.text());
  await close({ graceMs: 0 });
`;

const fetching = `
  import { gateway } from './books.mjs';

  const response = await gateway.fetch(new Request('http://127.0.0.1/v1/books/7'));
  console.log(response.status, await response.text());
`;

it.each(nodes)(
  'on Node $version all packages install without a warning, and run',
  async ({ node, onUws }) => {
    const { run, warnings, write } = await project([...all, '@trpc/server', 'zod'], {
      node,
      manifest: { allowScripts },
    });
    expect(warnings).toEqual([]);
    await write({
      'books.mjs': books,
      'fetch.mjs': fetching,
      'node.mjs': serving('node'),
      'uws.mjs': serving('uws'),
      'router.ts': "export { appRouter } from '@petstore/core';",
      'store.mjs': `
      import { appRouter } from '@petstore/core';
      import { openEmbeddedStore } from '@petstore/core/store/embedded';
      import { ResponseControls } from 'trpc-gateway';

      const store = await openEmbeddedStore({ dataDir: 'data' });
      const context = { store, response: new ResponseControls(), caller: undefined, idempotencyKey: undefined };
      const rex = await appRouter.createCaller(context).createPet({ name: 'Rex', categoryId: 1 });
      console.log(JSON.stringify(rex));
      await store.close();
    `,
    });
    for (const file of ['node.mjs', 'fetch.mjs'])
      expect(await run('node', file)).toEqual({ stdout: '200 "book 7"\n', stderr: '' });
    const served = await run('node', 'uws.mjs').then(
      ({ stdout }) => stdout.trimEnd(),
      ({ message }: Error) => /^NoBinaryError: .*$/m.exec(message)?.[0] ?? message,
    );
    expect(served).toMatch(onUws);
    expect(await run('node', 'store.mjs')).toEqual({
      stdout: '{"id":1,"name":"Rex","categoryId":1}\n',
      stderr: '',
    });
    await run(
      'trpc-gateway-typegen',
      '--router',
      'router.ts',
      '--out',
      'types.ts',
      '--error-shape',
      'default',
    );
  },
);

it.each([
  ['Windows', ['--os=win32', '--cpu=x64']],
  ['musl', ['--libc=musl']],
])('the gateway installs without a warning on %s, as simulated by npm', async (_, options) => {
  const { warnings } = await project(['trpc-gateway', '@trpc/server', 'zod'], {
    options: ['--dry-run', ...options],
  });
  expect(warnings).toEqual([]);
});

const pnpm = 'pnpm@12.21.0';

it('on pnpm, whose packages see only their own dependencies, all packages install, compile and run', async () => {
  const names = [...all, 'trpc-gateway-runtime', '@trpc/server', 'zod', 'typescript', '@types/node'];
  const { run, write } = await project([], {});
  // The packages are not on the registry under this version: their dependencies on each other are the packed files too.
  await write({
    'package.json': JSON.stringify({ type: 'module', dependencies: await dependencies(packed, names) }),
    'pnpm-workspace.yaml': JSON.stringify({
      overrides: await dependencies(packed, publishedPackages),
      allowBuilds: allowScripts,
    }),
    'books.mts': books,
    'main.mts': `
      import { serve } from 'trpc-gateway/uws';
      import { healthRoutes } from 'trpc-gateway-runtime/health';
      import { openEmbeddedStore } from '@petstore/core/store/embedded';
      import type { Animal } from '@petstore/types';
      import { gateway } from './books.mts';

      const { port, close } = await serve(gateway, { port: 0 });
      const response = await fetch(\`http://127.0.0.1:\${port}/v1/books/7\`);
      const store = await openEmbeddedStore({ dataDir: 'data' });
      const animals: Animal[] = [];
      console.log(response.status, await response.text(), typeof healthRoutes, animals.length);
      await store.close();
      await close({ graceMs: 0 });
    `,
    'router.ts': "export { appRouter } from '@petstore/core';",
  });
  await run('npm', 'exec', '--yes', '--package', pnpm, '--', 'pnpm', 'install', '--no-frozen-lockfile');
  for (const resolution of resolutions) {
    await write({ 'tsconfig.json': tsconfig(resolution, 'main.mts') });
    await run('tsc');
  }
  expect(await run('node', 'main.mts')).toEqual({ stdout: '200 "book 7" function 0\n', stderr: '' });
  await run('trpc-gateway-typegen', '--router', 'router.ts', '--out', 'types.ts', '--error-shape', 'default');
});
