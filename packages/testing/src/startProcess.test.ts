import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { lives } from './lives.ts';
import { startProcess } from './startProcess.ts';

const module = JSON.stringify(fileURLToPath(new URL('startProcess.ts', import.meta.url)));

/** A process that prints its id, and whose event loop then hangs. */
const hanging = JSON.stringify(
  `console.log(process.pid); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
);
/** A module that starts it. */
const starter = `import { startProcess } from ${module};
  startProcess(process.execPath, ['--eval', ${hanging}], { stdio: ['ignore', 'inherit', 'ignore'] });`;

test.runIf(process.platform === 'linux')(
  'a process that a test started, whose event loop hangs, ends when the process that runs the test is killed',
  async () => {
    const parent = startProcess(process.execPath, ['--input-type=module', '--eval', starter]);
    let printed = '';
    parent.stdout?.on('data', (text) => (printed += String(text)));
    await vi.waitFor(() => expect(printed).toMatch(/^\d+\n/));
    expect(lives(Number(printed))).toBe(true);
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(lives(Number(printed))).toBe(false));
  },
);
