import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { albumsSuite } from '../albums/albumsSuite.ts';
import { newProject, type Project } from './packages.ts';
import { resolutions, tsconfig } from './tsconfig.ts';

let project: Project;
beforeAll(async () => {
  project = await newProject(inject('packed'), [
    'trpc-gateway',
    'trpc-gateway-typegen',
    '@trpc/client',
    '@trpc/server',
    'superjson',
    'zod',
    'typescript',
    '@types/node',
    // The first needs glibc 2.38.
    '@uwsjs/core@20.69.0',
    'uWebSockets.js@npm:uws-pack@20.0.8',
  ]);
  await project.copy('albums');
});
afterAll(() => project.remove());

/** Starts the albums as a process of the project. */
async function start() {
  const child = spawn(process.execPath, ['main.ts'], {
    cwd: project.folder,
    env: { PATH: process.env['PATH'], PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface(child.stdout)) {
    const origin = /http:\/\/[^/]+/.exec(line)?.[0];
    if (origin !== undefined) return { origin, close };
  }
  throw new Error('The albums did not start.');
}

describe('the albums example with the published gateway', () => {
  it.each(resolutions)(
    'the albums example compiles with the published gateway: $module',
    async (resolution) => {
      await project.write({ 'tsconfig.json': tsconfig(resolution, 'main.ts') });
      expect(await project.run('tsc')).toMatchObject({ stdout: '' });
    },
  );

  it('trpc-gateway-typegen prints types of the albums router, with which clients compile without the router', async () => {
    await project.run('trpc-gateway-typegen', '--router', 'router.ts', '--out', 'albumTypes.ts');
    await project.write({
      'client.ts': `
        import { createTRPCClient, httpBatchLink } from '@trpc/client';
        import superjson from 'superjson';
        import type { Album, AppRouter } from './albumTypes.ts';

        const links = [httpBatchLink({ url: 'http://127.0.0.1:3001/trpc', transformer: superjson })];
        const { albums } = createTRPCClient<AppRouter>({ links });
        export const list = (since: Date): Promise<Album[]> => albums.list.query({ since });
        // @ts-expect-error a year is a number
        export const wrong = () => albums.list.query({ year: '2026' });
      `,
      'tsconfig.json': tsconfig(resolutions[0], 'client.ts'),
    });
    await project.run('tsc');
    const check = project.run(
      'trpc-gateway-typegen',
      '--router',
      'router.ts',
      '--out',
      'albumTypes.ts',
      '--check',
    );
    expect(await check).toEqual({ stdout: '', stderr: '' });
  });

  albumsSuite(start);
});
