import { expect, test } from 'vitest';
import { definitions, unexplainedNames } from './findSharedNames.mjs';

test.each([
  ['functions, once for all overloads', 'export function a(): void; export function a() {}', ['a', 'a']],
  ['constants', 'const a = 1, b = 2; export let c;', ['a', 'b', 'c']],
  ['what is destructured', 'const { a, b: { c = 1 }, ...d } = e; const [f] = g;', ['a', 'c', 'd', 'f']],
  ['types', 'type A = B; export interface C {} enum D {}', ['A', 'C', 'D']],
  ['classes', 'export default class A {} abstract class B {}', ['A', 'B']],
  ['nothing of other files', "import { a } from 'b'; export { c } from 'd'; export * from 'e';", []],
  ['nothing inside functions', 'void function () { const a = 1; };', []],
])('definitions of a file are %s', (_, source, names) => {
  expect(definitions('example.ts', source).map(({ name }) => name)).toEqual(names);
});

const twins = { twins: ['src/node', 'src/uws'], reason: 'Two adapters.' };
const named = { names: ['a', 'b'], folders: ['src/node'], reason: 'By design.' };
const copies = { copies: 'released.ts', reason: 'Generated.' };

test.each([
  ['in one file is no shared name', ['src/one.ts', 'src/one.ts'], [], 0],
  ['in two files is reported', ['src/one.ts', 'src/two.ts'], [], 1],
  ['in twin files is explained', ['src/node/serve.ts', 'src/uws/serve.ts'], [twins], 0],
  ['in different files of twin folders is reported', ['src/node/serve.ts', 'src/uws/listen.ts'], [twins], 1],
  [
    'in twin files and another is reported',
    ['src/node/serve.ts', 'src/uws/serve.ts', 'src/a.ts'],
    [twins],
    1,
  ],
  ['in the folder of its row is explained', ['src/node/one.ts', 'src/node/two.ts'], [named], 0],
  ['also outside of that folder is reported', ['src/node/one.ts', 'src/two.ts'], [named], 1],
  ['in a copy is explained', ['released.ts', 'src/one.ts'], [copies], 0],
  ['in a copy and two files is reported', ['released.ts', 'src/one.ts', 'src/two.ts'], [copies], 1],
])('a name %s', (_, paths, rows, count) => {
  const all = paths.map((path) => ({ name: 'a', kind: 'const', path, line: 1 }));
  expect(unexplainedNames(all, rows).unexplained).toHaveLength(count);
});

test('a row that explains nothing is reported, for each of its names', () => {
  const all = ['one', 'two'].map((file) => ({
    name: 'a',
    kind: 'const',
    path: `src/node/${file}.ts`,
    line: 1,
  }));
  expect(unexplainedNames(all, [twins, named]).unused).toEqual([twins, { ...named, names: ['b'] }]);
});
