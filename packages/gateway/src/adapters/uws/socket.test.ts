import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('WebSockets open whose upgrades are accepted while the request of another connection is read', async () => {
  const script = fileURLToPath(new URL('testing/concurrentUpgrades.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe('60 of 60 opened\n');
});
