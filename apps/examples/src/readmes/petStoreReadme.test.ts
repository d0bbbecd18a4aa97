import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPetStore } from '../petStore/startPetStore.ts';
import { curlLines, newSnippets, printedBy, readReadme } from './readme.ts';

const page = await readReadme('docs/clients.md');

/** The program of docs/clients.md that follows the links to the next page. */
const loopIn = (language: 'ts' | 'python') =>
  page.blocks(language).find((program) => program.includes('next')) ?? '';

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
  for (const name of names) {
    const body = JSON.stringify({ name, categoryId: 1 });
    expect((await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body })).status).toBe(201);
  }
  /** Replaces the origin that the pages show. */
  const at = (snippet: string) => snippet.replaceAll('http://127.0.0.1:3000', origin);
  return { at, env: { KEY: key } };
}

test('the curl commands of docs/clients.md print the responses that it shows', async () => {
  const { at, env } = await serveAnimals();
  const { expectPrinted } = await newSnippets();
  const lines = curlLines(at(page.text)).filter(([line]) => line.includes('/v1/pets'));
  expect(lines.length).toBeGreaterThanOrEqual(2);
  await expectPrinted(lines, { env });
});

// More animals than two pages of 100.
const names = Array.from({ length: 201 }, (_, index) => `Rex ${index + 1}`);

test.for(['ts', 'python'] as const)(
  'the loop of docs/clients.md in %s prints every animal once, over several pages',
  async (language, { skip }) => {
    if (language === 'python' && python === undefined) skip();
    const { at, env } = await serveAnimals(names);
    const { compile, run, shell, write } = await newSnippets();
    await write({ [language === 'ts' ? 'loop.ts' : 'loop.py']: at(loopIn(language)) });
    if (language === 'ts') await compile();
    const printed = language === 'ts' ? run('loop.ts', env) : shell(`'${python}' loop.py`, env);
    expect((await printed).trimEnd().split('\n').toSorted()).toEqual(names.toSorted());
  },
);

test('the tRPC client of docs/clients.md compiles and prints true, and the programs in the READMEs of the packages their last comment', async () => {
  const readmes = ['core', 'embedded-store', 'types'].map((name) => readReadme(`packages/${name}/README.md`));
  const packages = (await Promise.all(readmes)).flatMap(({ blocks }) => blocks('ts'));
  const clients = page.blocks('ts').filter((text) => text.includes('@petstore/types'));
  expect([clients.length > 0, packages.length > 2]).toEqual([true, true]);
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
