import { once } from 'node:events';
import { startProcess } from './startProcess.ts';

/**
 * Attaches strace to inject faults into a system call of a process. @returns a function that detaches it
 * @param output the file of its trace, in which each injection is marked
 * @param effect such as `error=EIO:when=3`
 */
export async function attachStrace(
  pid: number,
  output: string,
  call: string,
  effect: string,
): Promise<() => Promise<void>> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${effect}`];
  const tracer = startProcess('strace', ['-f', '-s', '0', '-o', output, '-p', String(pid), ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(tracer.stderr ?? tracer, 'data');
  return async () => {
    if (tracer.exitCode !== null) return;
    const ended = once(tracer, 'exit');
    tracer.kill('SIGINT');
    await ended;
  };
}
