import type { Case } from './cases.ts';
import { caseOf, type Contender } from './contenders.ts';
import type { ContenderProcess } from './contenderProcess.ts';
import { measure, type Measurement } from './measure.ts';
import { median, spread } from './statistics.ts';

/** A contender that runs, and whose answers are the right ones. */
export interface Runner {
  readonly contender: Contender;
  readonly process: ContenderProcess;
}

export interface ThroughputOptions {
  readonly rounds: number;
  /** How long each measurement lasts, and the load before the first of each. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly onProgress: (text: string) => void;
}

/** How one contender did in one case. */
export interface Result {
  readonly case: string;
  readonly contender: string;
  /** Medians over the rounds, of `Measurement`. */
  readonly rate: number;
  readonly perCore: number;
  readonly busy: number;
  /** Of `perCore`: 0.05 is ±5%. */
  readonly spread: number;
  /** `perCore` over that of the bare server in the same round; the median. `undefined` without one. */
  readonly ratio: number | undefined;
  /** The same of `rate`. */
  readonly clockRatio: number | undefined;
  readonly rounds: readonly Measurement[];
}

/** Whom all others are compared with. */
export const bare = 'minimal';

/**
 * Measures every case with every contender, in rounds: whatever else the machine does falls on all of them alike. Of a
 * round, each contender's figure is set against the bare server's of that same round.
 */
export async function throughput(
  runners: readonly Runner[],
  cases: readonly Case[],
  { rounds, seconds, warmUpSeconds, onProgress }: ThroughputOptions,
): Promise<readonly Result[]> {
  const measured = new Map<string, Measurement[]>();
  for (let round = -1; round < rounds; round++) {
    for (const subject of cases) {
      const able = runners.flatMap(({ contender, process }) => {
        const own = caseOf(contender, subject);
        return own ? [{ contender, process, own }] : [];
      });
      // Each round begins with another contender.
      const turn = Math.max(round, 0) % Math.max(able.length, 1);
      for (const { contender, process, own } of [...able.slice(turn), ...able.slice(0, turn)]) {
        const name = key(subject.name, contender.name);
        onProgress(round < 0 ? `warm-up: ${name}` : `round ${round + 1} of ${rounds}: ${name}`);
        const measurement = await measure(process, own, round < 0 ? warmUpSeconds : seconds).catch(
          (cause: unknown) => {
            throw new Error(`${contender.name} failed at ${subject.name}: ${String(cause)}`, { cause });
          },
        );
        if (round >= 0) measured.set(name, [...(measured.get(name) ?? []), measurement]);
      }
    }
  }
  return cases.flatMap((subject) =>
    runners.flatMap(({ contender }) => {
      const of = measured.get(key(subject.name, contender.name));
      const against = measured.get(key(subject.name, bare));
      return of ? [summary(subject.name, contender.name, of, against)] : [];
    }),
  );
}

const key = (subject: string, contender: string) => `${subject} / ${contender}`;

function summary(
  subject: string,
  contender: string,
  rounds: readonly Measurement[],
  against: readonly Measurement[] | undefined,
): Result {
  const of = (value: (measurement: Measurement) => number) => median(rounds.map(value));
  const over = (value: (measurement: Measurement) => number) =>
    against && median(rounds.map((round, index) => value(round) / value(against[index] ?? round)));
  return {
    case: subject,
    contender,
    rate: of(({ rate }) => rate),
    perCore: of(({ perCore }) => perCore),
    busy: of(({ busy }) => busy),
    spread: spread(rounds.map(({ perCore }) => perCore)),
    ratio: over(({ perCore }) => perCore),
    clockRatio: over(({ rate }) => rate),
    rounds,
  };
}
