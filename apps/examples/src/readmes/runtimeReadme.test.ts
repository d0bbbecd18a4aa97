import type { RunOptions } from '@petstore/runtime';
import { expect, test } from 'vitest';
import { firstColumn, readReadme } from './readme.ts';

const readme = await readReadme('packages/runtime/README.md');

test('the readme of @petstore/runtime has every option of run', () => {
  const options = {
    start: true,
    server: true,
    listen: true,
    log: true,
    telemetry: true,
    docs: true,
    admin: true,
    workers: true,
    preventRestart: true,
    explain: true,
    expectedErrors: true,
  } satisfies Record<keyof RunOptions, true>;
  expect(firstColumn(readme, 'Options of `run`')).toEqual(Object.keys(options));
});

test('its production server has at most 30 lines', () => {
  // It compiles in gatewayReadme.test.ts.
  const [program = ''] = readme.blocks('ts');
  expect(program.split('\n').length).toBeLessThanOrEqual(30);
});
