import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readReadme } from './readme.ts';

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const page = await readReadme('docs/adapters.md');

/** The links to tests: name, file relative to docs/, and the first words of the test's title. */
const links = [...page.text.matchAll(/^\[([\w-]+)\]: \.\.\/(\S+) (?:"(.*)"|'(.*)')$/gm)].map(
  ([, name = '', file = '', quoted, single]) => ({ name, file, title: quoted ?? single ?? '' }),
);

/** Cells of the table of capabilities, without its first column. */
const [, table = ''] = /^## What each adapter does\n[^]*?((?:^\|.*\n)+)/m.exec(page.text) ?? [];
const cells = table
  .trimEnd()
  .split('\n')
  .slice(2)
  .flatMap((row) => row.split('|').slice(2, -1));

test('each link of docs/adapters.md names a test that exists', () => {
  expect(links.length).toBeGreaterThan(30);
  const wrong = links.filter(({ file, title }) => {
    if (!existsSync(at(file))) return true;
    const text = readFileSync(at(file), 'utf8');
    return !["'", '"', '`'].some((quote) => text.includes(`${quote}${title}`));
  });
  expect(wrong).toEqual([]);
});

test('each cell of the table in docs/adapters.md links to a test or is "the server’s"', () => {
  const names = new Set(links.map(({ name }) => name));
  expect(cells.length).toBeGreaterThan(60);
  const unlinked = cells.filter((cell) => {
    const linked = [...cell.matchAll(/\]\[([\w-]+)\]/g)].map(([, name = '']) => name);
    return linked.length === 0 ? cell.trim() !== 'the server’s' : linked.some((name) => !names.has(name));
  });
  expect(unlinked).toEqual([]);
});

test('the programs of docs/mounting.md equal the example files', async () => {
  const programs = (await readReadme('docs/mounting.md')).blocks('ts');
  expect(programs).toHaveLength(8);
  for (const program of programs) {
    const [, name = '', text = ''] = /^\/\/ (\S+)\n([^]*)$/.exec(program) ?? [];
    expect(text).toBe(readFileSync(at(`apps/examples/src/adapters/${name}`), 'utf8'));
  }
});
