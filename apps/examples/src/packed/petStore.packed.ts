import { describe, expect, inject, it } from 'vitest';
import { startPetStore } from '../startPetStore.ts';
import { build } from 'esbuild';
import { readReadme } from '../readmes/readme.ts';
import { publishedPackages, readManifest } from './packages.ts';
import { testProject } from './testProject.ts';
import { resolutions, tsconfig } from './tsconfig.ts';

const packed = inject('packed');
const { peerDependencies = {} } = await readManifest('@petstore/types');
const [, lowest] = /^\^(\d+\.\d+\.\d+)$/.exec(peerDependencies['@trpc/server'] ?? '') ?? [];

describe.each(publishedPackages)('the published package %s', (name) => {
  it(`the package ${name} has a readme, a licence and a changelog`, () => {
    expect(packed.files[name]).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md']));
  });

  it(`the manifest of ${name} has the fields that npm shows and that provenance needs`, async () => {
    const { publishConfig, ...manifest } = await readManifest(name);
    const { url } = (await readManifest('..')).repository;
    const directory = `packages/${name.replace(/^@petstore\/|^trpc-gateway-/, '').replace('trpc-', '')}`;
    expect(url).toMatch(/^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/);
    // npm derives the addresses of the homepage and of issues from it.
    expect(manifest).toMatchObject({ license: 'MIT', repository: { type: 'git', url, directory } });
    expect(publishConfig).toEqual({ access: 'public', provenance: true });
  });

  it(`the package ${name} has no tests, and no output of removed sources`, () => {
    const files = new Set(packed.files[name]);
    expect([...files].filter((path) => /\.test\.|\.test-d\.|\/testing\/|\.tsbuildinfo$/.test(path))).toEqual(
      [],
    );
    const built = [...files].filter((path) => /^dist\/.*\.js$/.test(path));
    expect(built.length).toBeGreaterThan(0);
    const sourceOf = (path: string) => path.replace(/^dist/, 'src').replace(/js$/, 'ts');
    // Written by scripts/buildPage.ts.
    const bundled = name === 'trpc-gateway-runtime' ? ['dist/docs/page.js'] : [];
    expect(built.filter((path) => !files.has(sourceOf(path)))).toEqual(bundled);
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
  ])('with %s, valid calls compile and run, and invalid ones do not compile', async (_, version) => {
    const { origin, key } = await startPetStore();
    const { write, run } = await testProject([
      '@petstore/types',
      `@trpc/client${version}`,
      `@trpc/server${version}`,
      'typescript',
      // The declarations of tRPC below 11.25 need them.
      ...(version === '' ? [] : ['@types/node', '@types/ws']),
    ]);
    const start = client(origin, key);
    await write({ 'right.ts': start + right, 'wrong.ts': start + wrong });
    for (const resolution of resolutions) {
      await write({ 'tsconfig.json': tsconfig(resolution, 'right.ts') });
      await run('tsc', '--singleThreaded');
      await write({ 'tsconfig.json': tsconfig(resolution, 'wrong.ts') });
      const errors = await run('tsc', '--singleThreaded').then(
        () => 'nothing',
        ({ message }: Error) => message,
      );
      expect(errors.match(/error TS\d+/g)).toEqual(['error TS2741', 'error TS2322', 'error TS2339']);
    }
    expect(await run('node', 'right.ts')).toMatchObject({ stdout: 'true\n' });
  });
});

describe('the React Query example in the README of @petstore/types', () => {
  it('the React Query example installs without --force, compiles, and renders the animals', async () => {
    const { origin, key } = await startPetStore();
    const readme = await readReadme('packages/types/README.md');
    const [, install = ''] = /^npm install (.*react-query.*)$/m.exec(readme.blocks('sh').join('')) ?? [];
    const packages = install
      .replace('--save-exact ', '')
      .replace(/\.\/petstore-types-[\d.]+\.tgz/, '@petstore/types')
      .split(' ');
    const { folder, write, run } = await testProject([...packages, 'typescript', '@types/node']);
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
      await run('tsc', '--jsx', 'react-jsx', '--skipLibCheck', '--declaration', '--singleThreaded');
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
  });
});
