import type { Case } from './cases.ts';
import { caseOf, type Contender } from './contenders.ts';
import type { ContenderProcess } from './contenderProcess.ts';
import { leastDisturbed, measure, type Measurement, warmUp } from './measure.ts';

/** A running contender whose responses were verified. */
export interface Runner {
  readonly contender: Contender;
  readonly process: ContenderProcess;
}

export interface ThroughputOptions {
  readonly rounds: number;
  /** How long each measurement lasts. */
  readonly seconds: number;
  /** How much processor time a contender has used of a case before its first measurement. */
  readonly warmUpSeconds: number;
  /** The maximum number of repetitions of a measurement that other programs disturb. */
  readonly attempts: number;
  readonly onProgress: (text: string) => void;
}

/** How one contender did in one case. */
export interface Result {
  readonly case: string;
  readonly contender: string;
  /** Medians over the rounds, of `Measurement`. */
  readonly rate: number;
  readonly perCore: number;
  /** Of `perCore`: 0.05 is ±5%. */
  readonly spread: number;
  /** `perCore` over that of `minimal` in the same round; the median. `undefined` where that was not measured. */
  readonly ratio: number | undefined;
  /** The same over that of the contender's peer. */
  readonly peerRatio: number | undefined;
  readonly rounds: readonly Measurement[];
}

/** The contender that all others are compared with. */
export const limit = 'minimal';

/** The contender that the floor of another one compares it with: what people use on the same runtime. */
const peerOf = ({ runtime }: Pick<Contender, 'runtime'>) => (runtime === 'bun' ? 'elysia' : 'fastify');

/**
 * Measures every case with every contender, in rounds: whatever else the machine does falls on all of them alike. Of a
 * round, each contender's figure is divided by that of `minimal` in the same round.
 */
export async function throughput(
  runners: readonly Runner[],
  cases: readonly Case[],
  { rounds, seconds, warmUpSeconds, attempts, onProgress }: ThroughputOptions,
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
        try {
          if (round < 0) await warmUp(process, own, warmUpSeconds);
          else {
            const measurement = await leastDisturbed(attempts, () => measure(process, own, seconds));
            measured.set(name, [...(measured.get(name) ?? []), measurement]);
          }
        } catch (cause) {
          throw new Error(`${contender.name} failed at ${subject.name}: ${String(cause)}`, { cause });
        }
      }
    }
  }
  return cases.flatMap((subject) =>
    runners.flatMap(({ contender }) => {
      const of = measured.get(key(subject.name, contender.name));
      if (of === undefined) return [];
      const ratioTo = (other: readonly Measurement[] | undefined) =>
        other && median(of.map(({ perCore }, index) => perCore / (other[index]?.perCore ?? NaN)));
      const medianOf = (value: (measurement: Measurement) => number) => median(of.map(value));
      return {
        case: subject.name,
        contender: contender.name,
        rate: medianOf(({ rate }) => rate),
        perCore: medianOf(({ perCore }) => perCore),
        spread: spread(of.map(({ perCore }) => perCore)),
        ratio: ratioTo(measured.get(key(subject.name, limit))),
        peerRatio: ratioTo(measured.get(key(subject.name, peerOf(contender)))),
        rounds: of,
      };
    }),
  );
}

const key = (subject: string, contender: string) => `${subject} / ${contender}`;

/** The middle of some numbers; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  return ((sorted[(length - 1) >> 1] ?? NaN) + (sorted[length >> 1] ?? NaN)) / 2;
}

/** Half of the distance between the least and the most, as a part of the median: 0.05 is ±5%. */
const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2 / median(values);
