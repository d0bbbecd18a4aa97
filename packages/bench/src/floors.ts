import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Result } from './throughput.ts';

const file = fileURLToPath(new URL('../floors.json', import.meta.url));

/**
 * By contender and case: the least ratio to its peer that is accepted. To `minimal` it would differ between machines by
 * half. It is 25% below what was measured: machines differ, and a quick run is a rough one.
 */
const Floors = z.record(z.string(), z.record(z.string(), z.number().positive()));
type Floors = z.output<typeof Floors>;

export const readFloors = async (): Promise<Floors> => Floors.parse(JSON.parse(await readFile(file, 'utf8')));

/** The cases below their floor. A case that was not measured is not a miss: fewer cases may have been selected. */
export const misses = (results: readonly Result[], floors: Floors) =>
  results.flatMap((result) => {
    const floor = floors[result.contender]?.[result.case];
    const isBelow = floor !== undefined && !((result.peerRatio ?? NaN) >= floor);
    return isBelow ? [{ result, floor }] : [];
  });
