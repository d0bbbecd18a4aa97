#!/usr/bin/env node
/*
 * `.ci/mutation.mjs [--mutate GLOB,…] [OPTION…]`: mutation tests of the gateway with StrykerJS (stryker.config.json), or of
 * the files that the globs name. Further options go to `stryker run`, such as --concurrency 4 or --incremental.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const options = process.argv.slice(2);
// Globs on the command line replace those of the configuration, exceptions included.
const globs = options.indexOf('--mutate') + 1;
if (globs > 0) options[globs] += ',!packages/**/*.test.ts,!packages/**/testing/**';
const { status } = spawnSync(`${root}node_modules/.bin/stryker`, ['run', ...options], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
