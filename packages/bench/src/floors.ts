import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Result } from './throughput.ts';

const file = fileURLToPath(new URL('../floors.json', import.meta.url));

/** How far below what was measured a floor is: machines differ, and a quick run is a rough one. */
const margin = 0.25;

/**
 * By contender and case: the least ratio to its peer that is accepted. To `minimal` it would differ between machines by
 * half.
 */
const Floors = z.record(z.string(), z.record(z.string(), z.number().positive()));
type Floors = z.output<typeof Floors>;

/** A result that is below its floor. */
export interface Miss {
  readonly result: Result;
  readonly floor: number;
}

export const readFloors = async (): Promise<Floors> => Floors.parse(JSON.parse(await readFile(file, 'utf8')));

/** The cases below their floor. A case that was not measured is not a miss: fewer cases may have been selected. */
export const misses = (results: readonly Result[], floors: Floors): readonly Miss[] =>
  results.flatMap((result) => {
    const floor = floors[result.contender]?.[result.case];
    const isBelow = floor !== undefined && !((result.peerRatio ?? NaN) >= floor);
    return isBelow ? [{ result, floor }] : [];
  });

/** The contenders that have floors. */
const floored = new Set(['gateway', 'gateway-middleware', 'gateway-node', 'gateway-bun']);

/** The floors by what was measured, and the earlier ones of what was not. */
export function floorsOf(results: readonly Result[], earlier: Floors): Floors {
  const floors = structuredClone(earlier);
  for (const { contender, case: subject, peerRatio: ratio } of results) {
    if (!floored.has(contender) || ratio === undefined) continue;
    (floors[contender] ??= {})[subject] = Number((ratio * (1 - margin)).toPrecision(2));
  }
  return floors;
}

/** Keeps floors for the next run. */
export const writeFloors = (floors: Floors): Promise<void> =>
  writeFile(file, `${JSON.stringify(floors, undefined, 2)}\n`);
