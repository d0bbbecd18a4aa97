import { freePort } from '@petstore/testing/freePort';
import { expect, inject, it } from 'vitest';
import { callsOf, expectedCalls } from '../adapters/expectedCalls.ts';
import { type Build, builds, copyPrograms } from './builds.ts';
import { matrix } from './matrix.ts';
import { newProject } from './packages.ts';

// Apps as users have them, installed from the packed files without a flag, type-checked, built, started, and called.

const named = (name: string, version: string) => (version === 'newest' ? name : `${name}@${version}`);

it.concurrent.for(matrix)(
  '$build on tRPC $trpc and zod $zod, with $manager and TypeScript $typescript, installs, compiles and answers',
  async ({ build, manager, others, trpc, typescript, zod }, { onTestFinished }) => {
    const {
      files,
      manifest = {},
      packages,
      program,
      protocols = Object.keys(expectedCalls),
      start,
    }: Build = builds[build];
    const peers = ['@trpc/server', '@trpc/client'].map((name) => named(name, trpc));
    const tools = [named('typescript', typescript), '@types/node', '@types/ws', ...packages, ...others];
    const always = ['trpc-gateway', 'trpc-gateway-runtime', 'trpc-gateway-shared', 'superjson'];
    const project = await newProject(inject('packed'), [...always, ...peers, named('zod', zod), ...tools], {
      manager,
      manifest,
    });
    onTestFinished(() => project.remove());
    expect(project.warnings.filter((line) => /peer|YN/.test(line))).toEqual([]);
    await project.write({
      ...files,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          lib: ['es2022', 'dom', 'dom.asynciterable'],
          strict: true,
          // The declarations of tRPC 11.17 do not compile with those of ws.
          skipLibCheck: trpc === '11.17.0',
          rewriteRelativeImportExtensions: true,
          types: ['node'],
          noEmit: true,
          rootDir: '.',
        },
        files: [program, 'calls.mts'],
      }),
    });
    await copyPrograms(project, program, zod);
    await project.run('tsc');

    const startOn = await start(project);
    const port = await freePort();
    const stop = await startOn(port);
    onTestFinished(async () => void (await stop()));
    const { stdout } = await project.run('node', 'calls.mts', `http://127.0.0.1:${port}`, ...protocols);
    expect(JSON.parse(stdout)).toMatchObject(callsOf(protocols));
  },
);
