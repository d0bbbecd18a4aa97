#!/usr/bin/env node
/*
 * `.ci/lockfile.mjs [FILE]`: checks that package-lock.json pins every package by the hash of its bytes, on every platform.
 * It is JavaScript without dependencies, since it runs before `npm ci`. It prints one line per problem and exits with 1.
 *
 * npm writes entries without `integrity`, and only this machine's binaries, when it makes them from an installed
 * node_modules. To repair the file: copy the package.json files, .npmrc and package-lock.json to an empty folder, delete
 * the entries that are named here, and run `npm install --package-lock-only` there.
 */
import { readFileSync } from 'node:fs';

/** Platforms for which this version is not on npm, which no lock can have. msgpackr works without its addon, and uWebSockets.js falls back. */
const unpublished = new Set([
  ...['darwin-arm64', 'darwin-x64', 'linux-arm', 'win32-x64'].map(
    (platform) => `@msgpackr-extract/msgpackr-extract-${platform}@3.0.7`,
  ),
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'win32-x64'].flatMap((platform) =>
    [22, 24, 26].map((version) => `@uwsjs/${platform}-${version}@20.69.0`),
  ),
]);

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(file, 'utf8'));
const problems = [];
const excused = new Set();

for (const [path, entry] of Object.entries(packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name)) continue;
    if (unpublished.has(`${name}@${range}`)) excused.add(`${name}@${range}`);
    else problems.push(`${path || 'package.json'}: its optional dependency ${name}@${range} has no entry`);
  }
  if (!path.includes('node_modules/') || entry.link) continue;
  if (!/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? ''))
    problems.push(
      `${path}@${entry.version}: integrity is ${entry.integrity ?? 'missing'}; it must be one sha512 hash`,
    );
  if (entry.resolved)
    problems.push(`${path}@${entry.version}: resolved is ${entry.resolved}; it must be left out (.npmrc)`);
}
for (const name of unpublished)
  if (!excused.has(name))
    problems.push(
      `${name} is excused in .ci/lockfile.mjs, but the lock file does not contain it. Remove it there`,
    );

/** Whether Node would find the package from this path: in its own node_modules, or in one above. */
function isLocked(path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    if (packages[`${folder && `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

for (const problem of problems) process.stderr.write(`package-lock.json: ${problem}.\n`);
if (problems.length > 0) process.exitCode = 1;
