import { afterEach, beforeEach, vi } from 'vitest';

// Each run has seeds of its own, which fast-check prints where a property fails: TEST_SEED repeats one.
const { TEST_SEED } = process.env;
if (TEST_SEED !== undefined) {
  const { configureGlobal, readConfigureGlobal } = await import('fast-check');
  configureGlobal({ ...readConfigureGlobal(), seed: Number(TEST_SEED) });
}

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
