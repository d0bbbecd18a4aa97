import { expect, test } from 'vitest';
import { startPetStore } from '../startPetStore.ts';
import { curlLines, newSnippets, printedBy, readReadme } from './readme.ts';

const page = await readReadme('docs/clients.md');

/** Starts a pet store with animals of these names. */
async function serveAnimals(names: readonly string[] = []) {
  const { origin, key } = await startPetStore();
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

test('the loop of docs/clients.md prints every animal once, over several pages', async () => {
  const { at, env } = await serveAnimals(names);
  const { compile, run, write } = await newSnippets();
  await write({ 'loop.ts': at(page.blocks('ts').join('')) });
  await compile();
  expect((await run('loop.ts', env)).trimEnd().split('\n').toSorted()).toEqual(names.toSorted());
});

test('the programs in the READMEs of the packages compile and print their last comment', async () => {
  const readmes = ['core', 'embedded-store', 'types'].map((name) => readReadme(`packages/${name}/README.md`));
  const programs = (await Promise.all(readmes)).flatMap(({ blocks }) => blocks('ts'));
  expect(programs.length).toBeGreaterThan(2);
  const { write, compile, run } = await newSnippets();
  const { at, env } = await serveAnimals();
  for (const [index, text] of programs.entries()) await write({ [`${index}.ts`]: at(text) });
  await compile();
  for (const [index, text] of programs.entries()) {
    expect([text, await run(`${index}.ts`, env)]).toEqual([text, `${printedBy(text)}\n`]);
  }
});
