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
  get: { calls: 80, files: 33 }, // Goal: 24 files.
  close: { calls: 105, files: 37 },
  post: { calls: 106, files: 35 }, // Goal: 100 in 26.
  query: { calls: 87, files: 32 }, // Goal: 92 in 24.
  batch: { calls: 107, files: 33 }, // Goal: 138 in 24.
  lines: { calls: 136, files: 35 },
  events: { calls: 161, files: 37 }, // Goal: 140 in 26.
  message: { calls: 45, files: 14 },
};

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const trace = async (...request: readonly string[]) =>
  (await promisify(execFile)(process.execPath, ['--conditions=@petstore/source', main, ...request])).stdout;
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
