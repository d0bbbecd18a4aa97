import type { ContenderProcess } from '../contenderProcess.ts';
import { wrk, type WrkOptions } from '../load/wrk.ts';
import { longestSeconds } from '../measure.ts';

/** Requests that a server answers in a second of processor time, however much of that it got. */
export async function perCore(
  process: Pick<ContenderProcess, 'port' | 'processorSeconds'>,
  options: Omit<WrkOptions, 'port' | 'isRefused'>,
): Promise<number> {
  const before = await process.processorSeconds();
  const { requests } = await wrk({ ...options, port: process.port, isRefused: false });
  const used = (await process.processorSeconds()) - before;
  // Where the machine is busy, a short run may be over before the first answer.
  if (requests > 0) return requests / used;
  const { seconds } = options;
  if (seconds > longestSeconds) throw new Error(`No answer within ${seconds} s.`);
  return perCore(process, { ...options, seconds: seconds * 4 });
}
