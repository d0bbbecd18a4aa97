import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/**
 * The most functions and files of `packages/gateway/src` that a request may enter. A goal is in the comment until it is
 * reached. Lower a count with the change that makes it possible; `npm run trace -- get` shows the functions.
 */
const most: Readonly<Record<string, { readonly calls: number; readonly files: number }>> = {
  get: { calls: 77, files: 26 }, // Goal: 24 files.
  close: { calls: 96, files: 26 },
  post: { calls: 100, files: 27 }, // Goal: 26 files.
  query: { calls: 85, files: 25 }, // Goal: 24 files.
  batch: { calls: 103, files: 26 }, // Goal: 24 files.
  lines: { calls: 133, files: 27 },
  events: { calls: 140, files: 26 },
  message: { calls: 44, files: 14 },
};

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const trace = async (...request: readonly string[]) =>
  (await promisify(execFile)(process.execPath, ['--conditions=trpc-gateway-source', main, ...request]))
    .stdout;
const stdout = await trace();
const rows = [...stdout.matchAll(/^(\w+) +(\d+) +(\d+) +\d+$/gm)];
const counts = rows.map(([, request = '', calls, files]) => ({
  request,
  calls: Number(calls),
  files: Number(files),
}));

it('npm run trace counts the requests that have a limit', () => {
  expect(counts.map(({ request }) => request)).toEqual(Object.keys(most));
});

it.each(counts)('$request enters no more functions and files than before', ({ request, calls, files }) => {
  expect({ calls, files }).toEqual({
    calls: Math.min(calls, most[request]?.calls ?? 0),
    files: Math.min(files, most[request]?.files ?? 0),
  });
});

it('docs/architecture.md shows the functions of a GET, as npm run trace -- get prints them', async () => {
  const page = await readFile(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8');
  const [, shown] = /```text\n([^]*?)```/.exec(page) ?? [];
  expect(shown).toBe(await trace('get'));
});
