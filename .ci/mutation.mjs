#!/usr/bin/env node
/*
 * `.ci/mutation.mjs [--mutate GLOB,…] [OPTION…]`: mutation tests of the gateway with StrykerJS (stryker.config.json), or of
 * the files that the globs name. Further options go to `stryker run`, such as --concurrency 4 or --incremental. The report is
 * in reports/mutation/mutation.html. Without globs it takes hours: 689 mutants took 50 minutes on two busy cores. A mutant that
 * runs out of time counts as killed, so on a busy machine some of these may have survived.
 *
 * stryker.config.json: `ignoreStatic` leaves out code that runs once when a module is imported, because each such mutant would
 * need all tests. `tsconfigFile` names a file that does not exist: Stryker would need the API for programs, which TypeScript 7
 * lacks, and the tests need no tsconfig.json.
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
