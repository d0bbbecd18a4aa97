import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { expect, it, vi } from 'vitest';

vi.setConfig({ testTimeout: 600_000 });

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

const [bun] = runtimesToTest('bun');

it.skipIf(bun === undefined)(
  'the suites of servers, of tRPC’s clients and of limits pass on Bun, except for bunDifferences',
  async () => {
    const vitest = [
      '--bun',
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'packages/gateway/test/adapters/vitest.bun.config.ts',
    ];
    // Vitest would report to the run that starts it.
    const { PATH, TEST_SEED } = process.env;
    const env = { PATH, TEST_SEED, NO_COLOR: '1' };
    const { stderr, stdout } = await promisify(execFile)(bun?.executable ?? '', vitest, {
      cwd: repository,
      env,
    }).catch((failed: { readonly stdout: string }) => {
      throw new Error(stripVTControlCharacters(failed.stdout));
    });
    for (const line of stderr.match(/^Failed once, then passed: .*$/gm) ?? [])
      process.stderr.write(`${line}\n`);
    const [, passed] = /Tests {2}(\d+) passed/.exec(stripVTControlCharacters(stdout)) ?? [];
    expect(Number(passed)).toBeGreaterThan(500);
  },
);
