import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { commandMissing } from '@petstore/testing/commandMissing';
import { expect, onTestFinished, test } from 'vitest';
import { startPetStore } from '../petStore/startPetStore.ts';
import { curlLines, newSnippets, printedBy, readReadme } from './readme.ts';

const [readme, clientsPage] = [await readReadme('README.md'), await readReadme('docs/clients.md')];

/** Pages with snippets that call the pet store. */
const pages = [
  { path: 'README.md', page: readme },
  { path: 'docs/clients.md', page: clientsPage },
];

/** The program of docs/clients.md that follows the links to the next page. */
const loopIn = (language: 'ts' | 'python') =>
  clientsPage.blocks(language).find((program) => program.includes('next')) ?? '';

/** Pythons that may have the package requests: that of the machine, and that of `.ci/tools`, for Schemathesis. */
const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const schemathesis = process.env['SCHEMATHESIS_DIR'] ?? join(caches, 'petstore-schemathesis');
const python = ['python3', join(schemathesis, 'bin/python')].find(
  (command) => spawnSync(command, ['-c', 'import requests']).status === 0,
);
if (python === undefined) {
  process.stderr.write('SKIPPED: cases that need Python with requests, which this machine does not have.\n');
}

/** Starts a pet store with animals of these names. */
async function serveAnimals(names: readonly string[] = []) {
  const { origin, key, close } = await startPetStore();
  onTestFinished(close);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const creates = names.map((name) => {
    const body = JSON.stringify({ name, categoryId: 1 });
    return fetch(`${origin}/v1/pets`, { method: 'POST', headers, body });
  });
  expect((await Promise.all(creates)).every(({ status }) => status === 201)).toBe(true);
  /** Replaces the origin that the pages show. */
  const at = (snippet: string) => snippet.replaceAll('http://127.0.0.1:3000', origin);
  return { at, env: { KEY: key } };
}

// More animals than two pages of 100.
const names = Array.from({ length: 201 }, (_, index) => `Rex ${index + 1}`);
const linesOf = (stdout: string) => stdout.trimEnd().split('\n').toSorted();

test.skipIf(commandMissing('curl')).for(pages)(
  'the curl commands of $path that call the pet store print the responses that it shows',
  async ({ page }) => {
    const { at, env } = await serveAnimals();
    const { shell } = await newSnippets();
    const lines = curlLines(page.text).filter(([line]) => line.includes('/v1/pets'));
    expect(lines.length).toBeGreaterThanOrEqual(2);
    for (const [line, response] of lines) {
      const printed = await shell(at(line), env);
      // With `-i` the page shows one line of the response.
      const isWhole = !line.startsWith('curl -i ');
      const shown = isWhole ? printed : printed.split('\r\n').find((each) => each === response);
      expect([line, shown]).toEqual([line, response]);
    }
  },
);

test('the TypeScript loop of docs/clients.md prints every animal once, over several pages', async () => {
  const { at, env } = await serveAnimals(names);
  const { write, compile, run } = await newSnippets();
  await write({ 'loop.ts': at(loopIn('ts')) });
  await compile();
  expect(linesOf(await run('loop.ts', env))).toEqual(names.toSorted());
});

test.skipIf(python === undefined)(
  'the Python loop of docs/clients.md prints every animal once, over several pages',
  async () => {
    const { at, env } = await serveAnimals(names);
    const { write, shell } = await newSnippets();
    await write({ 'loop.py': at(loopIn('python')) });
    expect(linesOf(await shell(`'${python}' loop.py`, env))).toEqual(names.toSorted());
  },
);

test('the tRPC clients of the pages compile and print true, and the programs in the READMEs of the packages their last comment', async () => {
  const readmes = ['core', 'embedded-store', 'types'].map((name) => readReadme(`packages/${name}/README.md`));
  const packages = (await Promise.all(readmes)).flatMap(({ blocks }) => blocks('ts'));
  const clients = pages
    .flatMap(({ page }) => page.blocks('ts'))
    .filter((text) => text.includes('@petstore/types'));
  expect([clients.length > 1, packages.length > 2]).toEqual([true, true]);
  const { write, compile, run } = await newSnippets();
  const [forClients, forPackages] = [await serveAnimals(), await serveAnimals()];
  const programs = [
    ...clients.map((text) => ({ text, printed: 'true', store: forClients })),
    ...packages.map((text) => ({ text, printed: printedBy(text), store: forPackages })),
  ];
  for (const [index, { store, text }] of programs.entries()) await write({ [`${index}.ts`]: store.at(text) });
  await compile();
  for (const [index, { printed, store, text }] of programs.entries()) {
    expect([text, await run(`${index}.ts`, store.env)]).toEqual([text, `${printed}\n`]);
  }
});
