import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startFetchProgram } from '@petstore/testing/fetchProgram';
import { runtimes } from '@petstore/testing/runtimes';
import type { handler } from '../adapters/lambda/handler.ts';
import { startLambda } from '../adapters/lambda/standIn.ts';
import { readReadme } from '../readmes/readme.ts';
import { asServer, type Start, startOnPort } from '../startOnPort.ts';
import type { Project } from './packages.ts';

const adapters = fileURLToPath(new URL('../adapters', import.meta.url));
const [, banner = ''] = /--banner:js="(.*)"/.exec((await readReadme('docs/mounting.md')).text) ?? [];

/** A way to build and to start a program of `adapters/`. */
export interface Build {
  /** The program's file relative to `adapters/`, or with `/` at its end the folder of an app with its own `tsconfig.json`. */
  readonly program: string;
  /** What it is built with, and what the program imports. */
  readonly packages: readonly string[];
  /** The protocols of `calls.mts` that the host has. Default: all. */
  readonly protocols?: readonly string[];
  readonly manifest?: object;
  readonly files?: Readonly<Record<string, string>>;
  /** Resolves when it is built. */
  readonly start: (project: Project) => Promise<Start>;
}

const startNode =
  (folder: string, ...args: readonly string[]): Start =>
  async (port) => {
    const stop = await startOnPort(port, [process.execPath, ...args], folder);
    return () => stop('SIGTERM');
  };

/** Starts a bundle in a folder of its own, without node_modules in its parents. */
async function startAlone({ folder }: Project, file: string): Promise<Start> {
  const deployed = join(folder, '../deployed');
  await cp(join(folder, 'dist'), deployed, { recursive: true });
  return startNode(deployed, file);
}

const service = { program: 'service.ts', packages: ['redis'] } as const;

const esbuild = (file: string, ...options: readonly string[]): Build => ({
  ...service,
  packages: [...service.packages, 'esbuild'],
  async start(project) {
    const outfile = `--outfile=dist/${file}`;
    await project.run('esbuild', 'service.ts', '--bundle', '--platform=node', outfile, ...options);
    return startAlone(project, file);
  },
});

const vite = (version: string, options = {}): Build => ({
  ...service,
  packages: [...service.packages, `vite@${version}`],
  files: {
    'vite.config.js': `export default ${JSON.stringify({
      ssr: { noExternal: true },
      build: { ssr: 'service.ts', ...options },
    })}`,
  },
  async start(project) {
    await project.run('vite', 'build');
    await project.write({ 'dist/package.json': '{ "type": "module" }' });
    return startAlone(project, 'service.js');
  },
});

const next = (version: string, hasPages: boolean): Build => ({
  program: 'next/',
  // Next installs the types itself, except in CI.
  packages: [`next@${version}`, '@types/react', 'better-auth@1.7.5'],
  protocols: ['trpc', 'rest', 'mcp', 'events', 'docs', 'sessions'],
  files: {
    'next.config.ts': 'export default { typescript: { ignoreBuildErrors: true } };',
    'server/router.ts': "export * from '../books';",
  },
  async start({ folder, run }) {
    await rm(join(folder, hasPages ? 'app/api/[...path]' : 'pages'), { recursive: true });
    await run('next', 'build');
    return startNode(folder, 'node_modules/next/dist/bin/next', 'start');
  },
});

export const builds = {
  node: {
    ...service,
    start: async ({ folder }) => startNode(folder, 'service.ts'),
  },
  /** What TypeScript compiles for Nest: `require` of packages that are ESM only. */
  commonjs: {
    ...service,
    manifest: { type: 'commonjs' },
    async start({ folder, run }) {
      await run('tsc', '--noEmit', 'false', '--outDir', 'out');
      return startNode(folder, 'out/service.js');
    },
  },
  esbuild: esbuild('service.mjs', '--format=esm', `--banner:js=${banner}`),
  esbuildCommonjs: esbuild('service.cjs', '--format=cjs'),
  vite8: vite('8.4.0'),
  /** It bundles with Rollup. */
  vite7: vite('7.3.8', { commonjsOptions: { ignore: ['bufferutil', 'utf-8-validate'] } }),
  /** Turbopack, with the gateway in the app router. */
  next16: next('16.4.6', false),
  /** Webpack, with the gateway in `pages/`. */
  next15: next('15.5.29', true),
  workers: {
    program: 'worker.ts',
    packages: ['esbuild'],
    protocols: ['trpc', 'rest', 'mcp', 'events', 'docs'],
    async start({ folder, run }) {
      await run('esbuild', 'worker.ts', '--bundle', '--format=esm', '--outfile=dist/worker.js');
      const { workerd = '' } = runtimes();
      const runtime = { name: 'workerd', title: 'workerd', executable: workerd };
      return asServer((port) => startFetchProgram(runtime, join(folder, 'dist/worker.js'), { port }));
    },
  },
  lambda: {
    program: 'lambda/handler.ts',
    packages: ['esbuild', 'srvx'],
    // API Gateway sends no stream that this handler returns.
    protocols: ['trpc', 'rest', 'mcp', 'docs'],
    async start({ folder, run }) {
      const outfile = join(folder, '../deployed/handler.mjs');
      const options = ['--bundle', '--platform=node', '--format=esm', `--outfile=${outfile}`];
      await run('esbuild', 'lambda/handler.ts', ...options);
      const bundle = (await import(pathToFileURL(outfile).href)) as { readonly handler: typeof handler };
      return asServer((port) => startLambda(port, bundle.handler));
    },
  },
} satisfies Readonly<Record<string, Build>>;

export type BuildName = keyof typeof builds;

/** Copies the programs of `adapters/`, as they are written for a version of zod, and the files of an app to the root. */
export async function copyPrograms({ folder, write }: Project, program: string, zod: string): Promise<void> {
  const isProgram = (path: string) => !/\.test\.ts$|standIn\.ts$|expectedCalls\.ts$/.test(path);
  await cp(adapters, folder, { recursive: true, filter: isProgram });
  if (program.endsWith('/')) await cp(join(adapters, program), folder, { recursive: true });
  for (const file of ['books.ts', 'service.ts']) {
    let text = await readFile(join(folder, file), 'utf8');
    if (zod.startsWith('3.25.')) text = text.replace("'zod'", "'zod/v4'");
    else if (zod.startsWith('3.')) text = text.replaceAll('z.int()', 'z.number().int()');
    await write({ [file]: text });
  }
}
