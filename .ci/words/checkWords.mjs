#!/usr/bin/env node
/*
 * `npm run check:words [-- [--summary] PATH…]`: reports the words of glossary.mjs in the repository, or in these files and
 * folders. It prints a line per occurrence and a table of counts, and exits with 1 where there are any.
 */
import { existsSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findWords, usedExceptions } from './findWords.mjs';
import { glossary } from './glossary.mjs';
import { readTexts } from './readTexts.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { summary: { type: 'boolean', default: false } },
});

const isRead =
  /\.(?:[mc]?ts|[mc]?js|tsx|md|py|toml|ya?ml|sh)$|(?:^|\/)Dockerfile$|^(?:\.ci|apps\/server\/scripts)\/[^.]*$/;
/** What is generated, and docs/interface.md, which is the customer's. */
const isLeftOut =
  /(?:^|\/)(?:CHANGELOG\.md|generated\/.*)$|^contract\/router\.ts$|^docs\/(?:interface|messages)\.md$|^\.ci\/words\//;

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...positionals],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => isRead.test(path) && !isLeftOut.test(path) && existsSync(path));

/** Counts by word, and by word and folder. */
const counts = new Map();
let total = 0;

const folders = new Set();
for (const path of files) {
  const source = readFileSync(path, 'utf8');
  const lineStarts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
  for (const occurrence of findWords(path, readTexts(path, source))) report(path, lineStarts, occurrence);
  // A folder is reported once.
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const folder = path.slice(0, end);
    if (folders.has(folder)) continue;
    folders.add(folder);
    const text = folder.slice(folder.lastIndexOf('/') + 1);
    for (const occurrence of findWords(folder, [{ kind: 'name', place: 'file', text, start: 0 }]))
      report(folder, [0], occurrence);
  }
}

function report(path, lineStarts, { word, row, start }) {
  const line = lineStarts.findLastIndex((each) => each <= start);
  total += 1;
  const folder = path.split('/').slice(0, -1).slice(0, 3).join('/') || '.';
  const ofWord = counts.get(row.word) ?? new Map();
  counts.set(row.word, ofWord.set(folder, (ofWord.get(folder) ?? 0) + 1));
  if (!values.summary) write(`${path}:${line + 1}:${start - lineStarts[line] + 1}  ${word}  → ${row.use}`);
}

function write(line) {
  process.stdout.write(`${line}\n`);
}
const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
const descending = (entries) => entries.toSorted((one, other) => other[1] - one[1]);

for (const [word, count] of descending([...counts].map(([key, of]) => [key, sum([...of.values()])]))) {
  const folder = values.summary
    ? descending([...counts.get(word)]).map(([name, number]) => `${name} ${number}`)
    : [];
  write(`${String(count).padStart(6)}  ${word.padEnd(14)}${folder.join(', ')}`);
}
write(`${String(total).padStart(6)}  in ${files.length} files`);

// An exception for a file goes with the word that it excuses.
const stale =
  positionals.length > 0
    ? []
    : glossary.flatMap(({ word, except = [] }) =>
        except
          .filter((exception) => exception.files && !usedExceptions.has(exception))
          .map(
            ({ text, files: where }) =>
              `glossary.mjs: "${word}" excuses ${text ?? 'it'} in ${where}, where it is not.`,
          ),
      );
for (const line of stale) write(line);

if (total > 0 || stale.length > 0) process.exitCode = 1;
