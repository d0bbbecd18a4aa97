import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { adapterDifferences } from './adapterDifferences.ts';

const page = await readFile(new URL('../../../docs/adapters.md', import.meta.url), 'utf8');

/** The cells of the first table below a heading, by row, without its header. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, table = ''] = /((?:^\|.*\n)+)/m.exec(section) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1).map(trimmed));
}

const trimmed = (text: string) => text.trim();

/** An observed value as the page prints it. */
function printed(observed: unknown): string {
  if (observed === undefined) return '–';
  if (observed === '' || (Array.isArray(observed) && observed.length === 0)) return 'none';
  if (Array.isArray(observed)) return observed.map(printed).join(', ');
  return typeof observed === 'string' ? observed : JSON.stringify(observed);
}

it('docs/adapters.md lists each difference between the adapters, with the observed values and the reason', () => {
  const rows = adapterDifferences.map(({ name, reason, observed: { uws, node, bun, fetch } }) => [
    name,
    printed(uws),
    printed(node),
    printed(bun),
    printed(fetch),
    reason,
  ]);
  expect(rowsBelow('What clients see differently')).toEqual(rows);
});
