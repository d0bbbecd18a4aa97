import { readFile } from 'node:fs/promises';
import { loadCore, serverCore } from './cores.ts';

// Other programs on the cores of a measurement change its result, so they are measured too, from /proc of Linux.

/** How /proc counts time: USER_HZ, which is 100 wherever Node runs. */
const ticksPerSecond = 100;

/**
 * Reads the processor time that was used so far on the two cores, and the part of it that the bench used itself, in seconds.
 * What a child of the bench used counts when it has ended.
 */
export async function coreTimes() {
  const [all, self] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/self/stat', 'utf8'),
  ]);
  return { used: usedOf(all, [serverCore, loadCore]), own: ownOf(self) };
}

/** Used seconds of cores (/proc/stat), without interrupts, which serve the load, but with stolen time. */
function usedOf(stat: string, cores: readonly number[]): number {
  const ticks = cores.map((core) => {
    const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(stat)?.[1] ?? '';
    const [user = 0, nice = 0, system = 0, , , , , steal = 0] = line.split(' ').map(Number);
    return user + nice + system + steal;
  });
  return ticks.reduce((sum, value) => sum + value, 0) / ticksPerSecond;
}

/** Returns the time of this process and of its children that have ended, in seconds, from /proc/self/stat. */
function ownOf(stat: string): number {
  // Behind the name, which may have blanks: state is the third field, utime, stime, cutime and cstime the 14th to 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).map(Number);
  return ticks.reduce((sum, value) => sum + value, 0) / ticksPerSecond;
}
