import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a request to open a WebSocket is let in, with others, while another connection’s request is read', async () => {
  const script = fileURLToPath(new URL('testing/letInTogether.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe('60 of 60 answered\n');
});
