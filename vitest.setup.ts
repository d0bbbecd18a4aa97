import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { afterEach, beforeEach, vi } from 'vitest';

// vitest.config.ts takes a new seed for each run, or the one that TEST_SEED has.
configureGlobal({ ...readConfigureGlobal(), seed: Number(process.env['TEST_SEED']) });

// Output that nobody expected is a fault nobody saw: a test that causes it fails.
const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;

beforeEach(() => {
  for (const method of methods) vi.spyOn(console, method);
});

afterEach(() => {
  const printed = methods.flatMap((method) => vi.mocked(console[method]).mock.calls);
  vi.restoreAllMocks();
  if (printed.length > 0) throw new Error(`Unexpected console output: ${JSON.stringify(printed)}`);
});
