import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { afterEach, beforeEach, vi } from 'vitest';
import { missingInTrpc } from './olderTrpc.ts';
import { deadlineMs } from './slowness.ts';

// vitest.config.ts takes a new seed for each run, or the one that TEST_SEED has.
configureGlobal({ ...readConfigureGlobal(), seed: Number(process.env['TEST_SEED']) });

// Unlike `expect.poll`, it has no setting for its deadline, which is one second.
const { waitFor } = vi;
vi.waitFor = (check, options = {}) =>
  waitFor(check, { timeout: deadlineMs, ...(typeof options === 'number' ? { timeout: options } : options) });

// A test fails if it causes unexpected output, since that output would hide an error.
const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;

beforeEach(({ task, skip }) => {
  const missing = missingInTrpc(task.fullName);
  if (missing !== undefined) skip(missing);
  for (const method of methods) vi.spyOn(console, method);
});

afterEach(() => {
  const printed = methods.flatMap((method) => vi.mocked(console[method]).mock.calls);
  vi.restoreAllMocks();
  if (printed.length > 0) throw new Error(`Unexpected console output: ${JSON.stringify(printed)}`);
});
