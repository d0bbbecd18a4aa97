import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import { startContender } from './contenderProcess.ts';
import type { Contender } from './contenders.ts';
import { measure } from './measure.ts';
import { median } from './throughput.ts';

/** Medians. */
export interface StartResult {
  readonly contender: string;
  /** From the start of the process to its first 200, in milliseconds. */
  readonly startMs: number;
  /** Resident memory a second after that, in MB (10⁶ bytes). */
  readonly idleMb: number;
  /** Resident memory after it was loaded for some seconds, in MB. */
  readonly loadedMb: number;
}

/** How long a contender takes to start, and what memory it holds, each start of its own process. */
export async function startAndMemory(
  contender: Contender,
  subject: Case,
  { starts, seconds }: { readonly starts: number; readonly seconds: number },
): Promise<StartResult> {
  const started: Omit<StartResult, 'contender'>[] = [];
  for (let start = 0; start < starts; start++) {
    const process = await startContender(contender);
    try {
      await sleep(1_000);
      const idleMb = await process.residentMb();
      await measure(process, subject, seconds);
      started.push({ startMs: process.startMs, idleMb, loadedMb: await process.residentMb() });
    } finally {
      await process.stop();
    }
  }
  return {
    contender: contender.name,
    startMs: median(started.map(({ startMs }) => startMs)),
    idleMb: median(started.map(({ idleMb }) => idleMb)),
    loadedMb: median(started.map(({ loadedMb }) => loadedMb)),
  };
}
