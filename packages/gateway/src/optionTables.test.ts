import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { gatewayRules } from './assembly/gatewayRules.ts';
import { procedureRules, restRules } from './procedures/readMeta.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The names in the first columns of the first table below each heading. A cell may have several names. */
function rowsOf(page: string, headings: readonly string[]): string[] {
  return headings.flatMap((heading) => {
    const [, section = ''] = read(`../../../${page}`).split(`\n${heading}\n`);
    const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
    const cells = table
      .split('\n')
      .slice(2, -1)
      .map((row) => row.split('|')[1] ?? '');
    return cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name));
  });
}

/** The members of an interface, or of a union of texts, in the source. */
const membersOf = (path: string, start: string, end: string, member: RegExp) => {
  const [, after = ''] = read(path).split(start);
  return Array.from((after.split(end)[0] ?? '').matchAll(member), ([, name = '']) => name);
};

const options = ['## Router and context', '## Paths and protocols', '## Limits', '## Hooks'];
const serveOptions = membersOf(
  './adapters/serve/serveOptions.ts',
  'export interface ServeOptions {',
  '\n}',
  /^ {2}readonly (\w+)\??:/gm,
);
const limits = membersOf('./procedures/limitError.ts', 'export type Limit =', ';', /'([a-z-]+)'/g);

test.each<[page: string, headings: readonly string[], names: readonly string[]]>([
  ['docs/gateway/options.md', options, Object.keys(gatewayRules)],
  ['docs/gateway/options.md', ['## Options of `serve`'], serveOptions],
  [
    'docs/gateway/openapi.md',
    ['## Options of the document'],
    Object.keys(gatewayRules.document.members ?? {}),
  ],
  ['docs/gateway/rest-metadata.md', ['## `openapi`: the REST operation'], Object.keys(restRules)],
  ['docs/gateway/rest-metadata.md', ['## Beside `openapi`: every protocol'], Object.keys(procedureRules)],
  ['docs/gateway/policies.md', ['## Request records'], limits],
])('%s has a row for each name, and no other (%s)', (page, headings, names) => {
  const rows = rowsOf(page, headings);
  const missing = names
    .filter((name) => !rows.includes(name))
    .map((name) => `${page} has no row for \`${name}\`.`);
  const unknown = rows
    .filter((name) => !names.includes(name))
    .map((name) => `${page} has a row for \`${name}\`, which does not exist.`);
  expect([...missing, ...unknown]).toEqual([]);
  expect(names.length).toBeGreaterThan(3);
});
