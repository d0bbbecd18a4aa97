import type { ContenderProcess } from '../contenderProcess.ts';
import { wrk, type WrkOptions } from '../load/wrk.ts';
import { longestSeconds } from '../measure.ts';

/** Requests that a server answers in a second of processor time, however much of that it got. */
export async function perCore(
  process: Pick<ContenderProcess, 'port' | 'processorSeconds'>,
  options: Omit<WrkOptions, 'port' | 'expectsErrors'>,
): Promise<number> {
  const before = await process.processorSeconds();
  const { requests } = await wrk({ ...options, port: process.port, expectsErrors: false });
  const used = (await process.processorSeconds()) - before;
  // On a busy machine a short run may end before the first response.
  if (requests > 0) return requests / used;
  const { seconds } = options;
  if (seconds > longestSeconds) throw new Error(`No response within ${seconds} s.`);
  return perCore(process, { ...options, seconds: seconds * 4 });
}
