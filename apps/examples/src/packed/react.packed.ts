import { expect, inject, it, onTestFinished } from 'vitest';
import { readReadme } from '../readmes/readme.ts';
import { dependencies, newProject, publishedPackages } from './packages.ts';
import { tsconfig } from './tsconfig.ts';

// tRPC's own React packages require one exact version of tRPC each: an app that is one package installs them and the gateway.

const packed = inject('packed');
const { text } = await readReadme('docs/migrating/from-trpc-adapters.md');
const [, pinned = ''] = /^npm install @trpc\/server@([\d.]+) /m.exec(text) ?? [];

const program = `
  import { QueryClient } from '@tanstack/react-query';
  import { createTRPCClient, httpBatchLink } from '@trpc/client';
  import { initTRPC } from '@trpc/server';
  import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
  import { createGateway } from 'trpc-gateway';
  import { z } from 'zod';

  const t = initTRPC.create();
  const router = t.router({
    page: t.procedure
      .input(z.object({ cursor: z.int().default(0) }))
      .query(({ input: { cursor } }) => ({ items: [cursor], next: cursor < 2 ? cursor + 1 : undefined })),
  });
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pages', version: '1.0.0' },
    openapi: true,
  });
  const fetch = (url: RequestInfo | URL | string, init?: object) => gateway.fetch(new Request(String(url), init));
  const client = createTRPCClient<typeof router>({ links: [httpBatchLink({ url: 'http://localhost/trpc', fetch })] });
  const queryClient = new QueryClient();
  const trpc = createTRPCOptionsProxy<typeof router>({ client, queryClient });
  const pages = await queryClient.fetchInfiniteQuery({
    ...trpc.page.infiniteQueryOptions({}, { getNextPageParam: ({ next }) => next }),
    pages: 3,
  });
  const response = await gateway.fetch(new Request('http://localhost/page?cursor=2'.replace('/page', '/v1/page')));
  const executions = gateway.procedures.map(({ execution }) => execution);
  console.log(pages.pages.flatMap(({ items }) => items).join(), await response.text(), executions.join());
`;
const printed = '0,1,2 {"items":[2]} compiled\n';

interface Row {
  readonly title: string;
  readonly trpc: string;
  readonly react: string;
}

const rows: readonly Row[] = [
  { title: 'tRPC and @trpc/react-query as on the page', trpc: pinned, react: `@trpc/react-query@${pinned}` },
  {
    title: 'the newest @trpc/tanstack-react-query',
    trpc: '11.22.1',
    react: '@trpc/tanstack-react-query@11.22.1',
  },
];

/** Creates an app that is one package: the gateway, React and tRPC's package for it. */
async function app({ react, trpc }: Row, node = process.execPath) {
  const names = [
    'trpc-gateway',
    'trpc-gateway-typegen',
    'zod',
    'react',
    '@tanstack/react-query',
    'typescript',
  ];
  const all = [...names, `@trpc/server@${trpc}`, `@trpc/client@${trpc}`, react, '@types/node'];
  return { dependencies: await dependencies(packed, all), node };
}

it.each(rows)('a React app of one package installs the gateway by npm with $title', async (row) => {
  const { node, ...manifest } = await app(row);
  const project = await newProject(packed, [], { node, manifest });
  onTestFinished(() => project.remove());
  expect(project.warnings).toEqual([]);
  if (!row.react.includes('tanstack')) return;
  await project.write({
    'main.ts': program,
    'tsconfig.json': tsconfig({ module: 'nodenext' }, 'main.ts'),
  });
  await project.run('tsc', '--skipLibCheck');
  expect(await project.run('node', 'main.ts')).toEqual({ stdout: printed, stderr: '' });
});

const pnpm = 'pnpm@11.28.11';

it('a React app of one package installs the gateway by pnpm, with the newest @trpc/tanstack-react-query', async () => {
  const row = rows.at(-1);
  if (row === undefined) throw new Error('There is no row.');
  const { dependencies: named } = await app(row);
  const { run, write, remove } = await newProject(packed, []);
  onTestFinished(() => remove());
  await write({
    'package.json': JSON.stringify({ type: 'module', dependencies: named }),
    'pnpm-workspace.yaml': JSON.stringify({
      overrides: await dependencies(packed, publishedPackages),
      strictPeerDependencies: true,
    }),
    'main.ts': program,
  });
  await run('npm', 'exec', '--yes', '--package', pnpm, '--', 'pnpm', 'install', '--no-frozen-lockfile');
  expect(await run('node', 'main.ts')).toEqual({ stdout: printed, stderr: '' });
});
