import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

// Inside the package, so that imports resolve, and ignored by Git.
const folder = fileURLToPath(new URL('../../dist/', import.meta.url));
const program = fileURLToPath(new URL('main.ts', import.meta.url));

/** Runs `trpc-gateway` with a module. Resolves with the exit code and the output. */
async function run(source: string, args: readonly string[]) {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, 'command-'));
  onTestFinished(() => rm(work, { recursive: true }));
  await writeFile(join(work, 'router.ts'), source);
  return new Promise((resolve) => {
    const options = { cwd: work, env: {} };
    execFile(
      process.execPath,
      ['--conditions=trpc-gateway-source', program, ...args],
      options,
      (error, out, err) => resolve([error?.code ?? 0, out, err]),
    );
  });
}

const router = `
  import { initTRPC } from '@trpc/server';
  const t = initTRPC.meta<object>().create({ isDev: false });
  const create = () =>
    t.router({ a: t.procedure.meta({ openapi: { method: 'GET', path: '/a' } }).query(() => 1) });
  export const first = create();
  setInterval(() => {}, 1000);
`;
const second = `export const second = create();`;
const printed = `GET /a (a)
  with authentication: requires a credential: add protect: false if it is public
Every error without preset: { code, message, status }, not { message, code, data, issues }
Of 1 procedures change: 0 always, 0 without preset, 1 with authentication
`;

it.each<[what: string, code: number, source: string, args: readonly string[], out: string, error: RegExp]>([
  ['the only router of a module', 0, router, ['report', 'router.ts'], printed, /^$/],
  ['one router under two names', 0, `${router}export default first;`, ['report', 'router.ts'], printed, /^$/],
  ['a router by its name', 0, router + second, ['report', 'router.ts', '--export', 'second'], printed, /^$/],
  [
    'one of two routers',
    1,
    router + second,
    ['report', 'router.ts'],
    '',
    /^router\.ts exports several routers\. Choose one of first, second with --export\.\n$/,
  ],
  [
    'a module without a router',
    1,
    'export {}',
    ['report', 'router.ts'],
    '',
    /^router\.ts exports no tRPC router\. Name the module that exports what t\.router\(\{ … \}\) returns\.\n$/,
  ],
  [
    'a missing file',
    1,
    router,
    ['report', 'other.ts'],
    '',
    /^other\.ts does not exist\. Name the module by its path\.\n$/,
  ],
  ['no file', 2, router, ['report'], '', /^Usage: trpc-gateway serve FILE/],
])('trpc-gateway report for %s exits with %i', async (_what, code, source, args, out, error) => {
  expect(await run(source, args)).toEqual([code, out, expect.stringMatching(error)]);
});
