#!/usr/bin/env node
/*
 * `npm run check:names [-- PATH…]`: reports the top-level names of source that are defined in more than one file and that
 * sharedNames.mjs does not explain, with their places; of these paths alone, where there are any. It exits with 1 where
 * there are such names, or where a row of sharedNames.mjs explains nothing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { definitions, unexplainedNames } from './findSharedNames.mjs';
import { sharedNames } from './sharedNames.mjs';

const files = execFileSync(
  'git',
  [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
    'packages',
    'apps/server',
    'contract',
  ],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter(
    (path) =>
      /^(?:packages\/[^/]+\/src|apps\/server\/(?:src|scripts)|contract)\/.*\.[mc]?tsx?$/.test(path) &&
      !/\.test(?:-d)?\.ts$|\/testing\/|^packages\/(?:bench|conformance|testing)\/|\/generated\//.test(path) &&
      existsSync(path),
  );

const { unexplained, unused } = unexplainedNames(
  files.flatMap((path) => definitions(path, readFileSync(path, 'utf8'))),
  sharedNames,
);
const paths = process.argv.slice(2);
const reported = unexplained.filter(
  ({ places }) =>
    paths.length === 0 || places.some((place) => paths.some((path) => place.path.startsWith(path))),
);
const lines = reported.flatMap(({ name, places }) => [
  `${name}: defined in ${places.length} files`,
  ...places.map(({ kind, path, line }) => `    ${path}:${line}  ${kind}`),
]);
lines.push(
  `${reported.length} names have several definitions. Rename them, share them, or explain them in sharedNames.mjs.`,
  ...unused.map((row) => `sharedNames.mjs: a row explains no name, remove it: ${JSON.stringify(row)}`),
);
process.stdout.write(lines.map((line) => `${line}\n`).join(''));
if (reported.length + unused.length > 0) process.exitCode = 1;
