import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Names of pages that the bench generates or that every published package has. */
const generatedPages = new Set(['bench.md', 'CHANGELOG.md']);

/** Files that the reader of a page creates or that a command writes. */
const createdByReaders = new Set([
  'apps/examples/src/call.ts',
  'bookTypes.ts',
  'database.ts',
  'packages/bench/results/',
]);

/** Binding specifications. Code must cite their headings, so that a change of a heading shows the affected code. */
const bindingPages = new Set(['docs/interface.md', 'docs/decisions.md']);

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(ts|tsx|mjs|js|md|json|jsonc|ya?ml|html)$|^\.ci\/|^Dockerfile$/.test(file))
  .filter((file) => file !== 'package-lock.json' && existsSync(join(root, file)));

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the anchors of a page's headings, like GitHub. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const text = read(page).replaceAll(/^(`{3,})[^\n]*\n.*?^\1$/gms, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.*)$/gm)) {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Resolves a cited page: relative to the citing file, to one of its parents, or to the repository's root. */
function pageOf(file: string, path: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const page = normalize(join(folder, path));
    if (files.includes(page)) return page;
    if (folder === '.') return undefined;
  }
}

/** Returns the invalid citations of a file: of Markdown pages, and of headings such as `docs/decisions.md#order`. */
function problemsOf(file: string): readonly string[] {
  const text = read(file);
  const problems: string[] = [];
  const cited = text.matchAll(/(?<![\w/.:-])((?:[\w.-]+\/)*[\w.-]+\.md)\b(?:#([\p{L}\p{N}_-]+))?/gu);
  for (const [citation, path = '', anchor] of cited) {
    if (generatedPages.has(path)) continue;
    const page = pageOf(file, path);
    if (page === undefined) problems.push(`${file} cites ${citation}: there is no such page`);
    else if (anchor !== undefined && !anchorsOf(page).has(anchor))
      problems.push(`${file} cites ${citation}: ${page} has no such heading`);
    else if (anchor === undefined && bindingPages.has(page) && file.endsWith('.ts'))
      problems.push(`${file} cites ${citation} without a heading`);
  }
  if (!file.endsWith('.md')) return problems;
  for (const [, target = '', anchor] of text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
    const page = target === '' ? file : relative('.', normalize(join(dirname(file), target)));
    if (!existsSync(join(root, page))) problems.push(`${file} links to ${target}: there is no such file`);
    else if (anchor !== undefined && page.endsWith('.md') && !anchorsOf(page).has(anchor))
      problems.push(`${file} links to #${anchor}: ${page} has no such heading`);
  }
  return problems;
}

test('every cited Markdown page and heading exists', () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => !file.endsWith('citations.test.ts')).flatMap(problemsOf)).toEqual([]);
});

test('every source file and path that a Markdown page mentions exists', () => {
  const exists = (name: string) =>
    createdByReaders.has(name) ||
    existsSync(join(root, name.replace(/#.*$/, ''))) ||
    files.some((file) => file.endsWith(`/${name}`));
  const mentions = files
    .filter((page) => page.endsWith('.md') && !page.endsWith('CHANGELOG.md'))
    .flatMap((page) =>
      [...read(page).matchAll(/`([\w.@/-]+\.(?:tsx?|mjs)|(?:packages|apps|docs|\.ci)\/[\w.@/#-]+)`/g)].map(
        ([, name = '']) => ({ page, name }),
      ),
    );
  expect(mentions.length).toBeGreaterThan(100);
  expect(mentions.filter(({ name }) => !exists(name))).toEqual([]);
});

test('docs/README.md links to every page of docs/ and to the tables of contents of its folders', () => {
  const pages = files.filter((file) => /^docs\/.*\.md$/.test(file) && file !== 'docs/README.md');
  expect(pages.length).toBeGreaterThan(10);
  const missing = pages.filter((page) => {
    const folder = dirname(page);
    const contents = ['docs/README.md', `${folder}/README.md`].filter(
      (index) => index !== page && files.includes(index),
    );
    return !contents.some((index) => read(index).includes(`](${relative(dirname(index), page)})`));
  });
  expect(missing).toEqual([]);
});
