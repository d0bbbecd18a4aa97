import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { browserMissing, startBrowser } from '@petstore/testing/browser';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startPetStore } from '../petStore/startPetStore.ts';
import { lowestPeer, newProject, type Project, publishedPackages, readManifest } from './packages.ts';
import { build } from 'esbuild';
import { databaseFile, readReadme } from '../readmes/readme.ts';
import { resolutions, tsconfig } from './tsconfig.ts';

const packed = inject('packed');
const lowest = await lowestPeer('@petstore/types', '@trpc/server');

async function project(...packages: readonly string[]): Promise<Project> {
  const created = await newProject(packed, packages);
  onTestFinished(() => created.remove());
  return created;
}

describe.each(publishedPackages)('the published package %s', (name) => {
  it(`the package ${name} has a readme, a licence and a changelog`, () => {
    expect(packed.files[name]).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md']));
  });

  it(`the manifest of ${name} has the fields that npm shows and that provenance needs, and exports packed files`, async () => {
    const { bin = {}, publishConfig, exports, ...manifest } = await readManifest(name);
    const { url } = (await readManifest('..')).repository;
    const directory = `packages/${name.replace(/^@petstore\/|^trpc-gateway-/, '').replace('trpc-', '')}`;
    expect(url).toMatch(/^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/);
    // npm derives the addresses of the homepage and of issues from it.
    expect(manifest).toMatchObject({ license: 'MIT', repository: { type: 'git', url, directory } });
    expect(publishConfig).toEqual({ access: 'public', provenance: true });
    // npm corrects a path that starts with `./` when it publishes, and warns.
    expect(Object.values(bin).filter((path) => !packed.files[name].includes(path))).toEqual([]);
    // Without `testing`: entries for the tests of this repository, which only its condition finds.
    const exported = (JSON.stringify(exports).match(/(?<="\.\/)(?:dist|src)\/[^"]+/g) ?? []).filter(
      (path) => !path.includes('/testing/'),
    );
    expect(exported.length).toBeGreaterThan(0);
    expect(exported.filter((path) => !packed.files[name].includes(path))).toEqual([]);
  });

  it(`the package ${name} has no tests, and no output of removed sources`, () => {
    const files = new Set(packed.files[name]);
    expect([...files].filter((path) => /\.test\.|\.test-d\.|\/testing\/|\.tsbuildinfo$/.test(path))).toEqual(
      [],
    );
    const built = [...files].filter((path) => /^dist\/.*\.js$/.test(path));
    expect(built.length).toBeGreaterThan(0);
    const sourceOf = (path: string) => path.replace(/^dist/, 'src').replace(/js$/, 'ts');
    const bundled = {
      'trpc-gateway': [],
      // Written by scripts/buildPage.ts.
      'trpc-gateway-runtime': ['dist/docs/page.js'],
      'trpc-gateway-typegen': [],
      '@petstore/core': [],
      '@petstore/embedded-store': [],
      '@petstore/types': [],
    };
    expect(built.filter((path) => !files.has(sourceOf(path)))).toEqual(bundled[name]);
  });
});

describe('with only @trpc/client, its peer, TypeScript and @petstore/types', () => {
  const client = (url: string, key: string) => `
    import type { Animal, AppRouter } from '@petstore/types';
    import { createTRPCClient, httpBatchLink } from '@trpc/client';

    const headers = { authorization: 'Bearer ${key}' };
    const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: '${url}/trpc', headers })] });
  `;
  const right = `
    import type { paths } from '@petstore/types/openapi';
    const rex: Animal = await client.createPet.mutate({ name: 'Rex', categoryId: 1, status: 'available' });
    const page: paths['/pets']['get']['responses'][200]['content']['application/json'] =
      await client.listPets.query({ limit: 1 });
    console.log(page.length === 1 && page[0]?.id === rex.id);
  `;
  const wrong = `
    await client.createPet.mutate({ name: 'Rex' });
    await client.listPets.query({ status: 'lost' });
    (await client.getPet.query({ petId: 1 })).color;
  `;

  it.each([
    ['the tRPC version of the repository', ''],
    ['the lowest tRPC version of the peer range', `@${lowest}`],
    ['the newest tRPC 11', '@11'],
  ])(
    'with %s, valid calls compile and run, and invalid ones do not compile',
    async (_, version) => {
      const { origin, key, close } = await startPetStore();
      onTestFinished(close);
      const { write, run } = await project(
        '@petstore/types',
        `@trpc/client${version}`,
        `@trpc/server${version}`,
        'typescript',
        // The declarations of tRPC below 11.25 need them.
        ...(version === '' ? [] : ['@types/node', '@types/ws']),
      );
      const start = client(origin, key);
      await write({ 'right.ts': start + right, 'wrong.ts': start + wrong });
      for (const resolution of resolutions) {
        await write({ 'tsconfig.json': tsconfig(resolution, 'right.ts') });
        await run('tsc');
        await write({ 'tsconfig.json': tsconfig(resolution, 'wrong.ts') });
        const errors = await run('tsc').then(
          () => 'nothing',
          ({ message }: Error) => message,
        );
        expect(errors.match(/error TS\d+/g)).toEqual(['error TS2741', 'error TS2322', 'error TS2339']);
      }
      expect(await run('node', 'right.ts')).toMatchObject({ stdout: 'true\n' });
    },
    120_000,
  );
});

/** Serves an empty page at another origin than the pet store: the example is added to it. @returns its port */
async function servePage(): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><body></body>');
  }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Renders the example in Chromium with a valid API key, then with one that is not, and reads the list from a page of another origin. */
async function tryInBrowser(
  folder: string,
  write: (files: Record<string, string>) => Promise<void>,
  { origin, key, pagePort }: { readonly origin: string; readonly key: string; readonly pagePort: number },
): Promise<void> {
  await write({
    'page.tsx': `
      import { useState } from 'react';
      import { createRoot } from 'react-dom/client';
      import { PetStore } from './pets.tsx';

      function Page() {
        const [apiKey, setApiKey] = useState('${key}');
        return <><PetStore apiKey={apiKey} /><button onClick={() => setApiKey('not-a-key')}>Other key</button></>;
      }
      createRoot(document.body).render(<Page />);
    `,
  });
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['page.tsx'],
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  const tab = await browser.newPage();
  const calls: [method: string, idempotencyKey: string | undefined][] = [];
  tab.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/trpc`) || request.method() === 'OPTIONS') return;
    calls.push([request.method(), request.headers()['idempotency-key']]);
  });
  await tab.goto(`http://localhost:${pagePort}`);
  await tab.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  await tab.getByRole('listitem').filter({ hasText: 'Rex' }).waitFor();
  for (const count of [1, 2]) {
    await tab.getByRole('button', { name: 'Add Bella' }).click();
    await expect.poll(() => tab.getByRole('listitem').filter({ hasText: 'Bella' }).count()).toBe(count);
  }
  const keys = calls.flatMap(([method, idempotencyKey]) => (method === 'POST' ? [idempotencyKey] : []));
  expect(new Set(keys).size).toBe(2);
  expect(keys.every((each) => each !== undefined && each.length === 36)).toBe(true);
  const before = calls.length;
  await tab.getByRole('button', { name: 'Other key' }).click();
  await tab.getByText('The API key is not valid.').waitFor({ timeout: 5000 });
  expect(await tab.getByRole('listitem').count()).toBe(0);
  expect(calls.length - before).toBe(1);

  // The same page at an origin that CORS_ORIGINS lacks.
  await tab.goto(`http://127.0.0.1:${pagePort}`);
  const read = tab.evaluate((url) => fetch(url).then(() => 'read'), `${origin}/v1/pets`);
  await expect(read).rejects.toThrow('Failed to fetch');
}

describe('the React Query example in the README of @petstore/types', () => {
  it('the React Query example installs without --force, compiles, and renders the animals', async () => {
    const pagePort = await servePage();
    const { origin, key, close } = await startPetStore([`http://localhost:${pagePort}`]);
    onTestFinished(close);
    const readme = await readReadme('packages/types/README.md');
    const [, install = ''] = /^npm install (.*react-query.*)$/m.exec(readme.blocks('sh').join('')) ?? [];
    const packages = install
      .replace('--save-exact ', '')
      .replace(/\.\/petstore-types-[\d.]+\.tgz/, '@petstore/types')
      .split(' ');
    const { folder, write, run } = await project(...packages, 'typescript', '@types/node');
    const [program = ''] = readme.blocks('tsx');
    const main = `
      import { QueryClientProvider } from '@tanstack/react-query';
      import { renderToStaticMarkup } from 'react-dom/server';
      import { Pets, petStore } from './pets.tsx';

      // Rendered once, as on a server, the component fetches nothing.
      const store = petStore('${key}');
      await store.queryClient.fetchInfiniteQuery(
        store.trpc.listPets.infiniteQueryOptions({ limit: 20 }, { getNextPageParam: () => undefined }),
      );
      console.log(renderToStaticMarkup(
        <QueryClientProvider client={store.queryClient}><Pets {...store} /></QueryClientProvider>,
      ));
    `;
    await write({
      'pets.tsx': program.replaceAll('http://127.0.0.1:3000', origin),
      'main.tsx': main,
    });
    for (const resolution of resolutions) {
      await write({ 'tsconfig.json': tsconfig(resolution, 'main.tsx') });
      // The declarations of tRPC 11.22 use a type that `@types/ws` lacks.
      await run('tsc', '--jsx', 'react-jsx', '--skipLibCheck', '--declaration');
    }
    const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body });
    await build({
      absWorkingDir: folder,
      entryPoints: ['main.tsx'],
      outfile: 'main.mjs',
      bundle: true,
      packages: 'external',
      format: 'esm',
      jsx: 'automatic',
    });
    expect((await run('node', 'main.mjs')).stdout).toContain('<ul><li>Rex</li></ul>');
    if (!browserMissing()) await tryInBrowser(folder, write, { origin, key, pagePort });
  }, 240_000);
});

describe('with trpc-gateway-runtime', () => {
  it('the server in the README of trpc-gateway-runtime compiles, and serves its docs page', async () => {
    const { write, run } = await project(
      'trpc-gateway',
      'trpc-gateway-runtime',
      '@trpc/server',
      'zod',
      'typescript',
      '@types/node',
    );
    const [router = ''] = (await readReadme('packages/gateway/README.md')).blocks('ts');
    const [program = ''] = (await readReadme('packages/runtime/README.md')).blocks('ts');
    const server = program.replace('3000', '0').replace('9090', '0').replace("'auto'", '2');
    await write({ 'router.ts': router, 'database.ts': databaseFile, 'main.ts': server });
    for (const resolution of resolutions) {
      await write({ 'tsconfig.json': tsconfig(resolution, 'main.ts') });
      await run('tsc');
    }
    await write({
      'ask.ts': `
        import { spawn } from 'node:child_process';
        import { once } from 'node:events';
        const child = spawn(process.execPath, ['main.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        for await (const chunk of child.stdout) {
          text += chunk;
          const listening = text.split('\\n').find((line) => line.includes('"msg":"listening"'));
          if (listening === undefined || child.killed) continue;
          const { origin } = JSON.parse(listening);
          console.log((await fetch(origin + '/docs/scalar.js')).headers.get('content-encoding'));
          child.kill();
        }
        if (child.exitCode === null) await once(child, 'exit');
        console.log(child.exitCode);
      `,
    });
    expect((await run('node', 'ask.ts')).stdout).toBe('gzip\n0\n');
  }, 120_000);
});
