import type { Case } from './cases.ts';
import { caseOf, type Contender } from './contenders.ts';
import type { ContenderProcess } from './contenderProcess.ts';
import { leastDisturbed, measure, type Measurement, warmUp } from './measure.ts';
import type { Neighbour } from './neighbour.ts';

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
  /** Measures everything beside this program too. */
  readonly neighbour: Neighbour | undefined;
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
  /** `perCore` over that of `minimal` in the same round; the median. `undefined` where that was not measured. */
  readonly ratio: number | undefined;
  /** The same over that of the contender's peer. */
  readonly peerRatio: number | undefined;
  /** The same over that of the contender's own GET, or of its own POST for MCP. */
  readonly ownRatio: number | undefined;
  /**
   * The part of `perCore` that a neighbour takes away (`--neighbour`): 0.2 is 20% fewer units for the same processor time.
   * The median of the rounds; `undefined` without a neighbour.
   */
  readonly loss: number | undefined;
  readonly rounds: readonly Measurement[];
}

/** The contender that all others are compared with. */
export const limit = 'minimal';

/**
 * The contender that the floor of another one compares it with: what people use on the same runtime, and for MCP the
 * server of the official SDK.
 */
function peerOf({ runtime }: Pick<Contender, 'runtime'>, subject: string): string {
  if (subject === 'mcp') return 'mcp-sdk';
  return runtime === 'bun' ? 'elysia' : 'fastify';
}

/** The case of the same contender that a case is compared with: a call of a tool with the POST of the same input, others with the GET. */
const baseOf = (subject: string): string => (subject === 'mcp' ? 'create' : 'get');

/**
 * Measures every case with every contender, in rounds: whatever else the machine does falls on all of them alike. Of a
 * round, each contender's figure is divided by that of `minimal` in the same round.
 */
export async function throughput(
  runners: readonly Runner[],
  cases: readonly Case[],
  { rounds, seconds, warmUpSeconds, attempts, neighbour, onProgress }: ThroughputOptions,
): Promise<readonly Result[]> {
  const measured = new Map<string, Measurement[]>();
  const disturbed = new Map<string, Measurement[]>();
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
            const quiet = () => measure(process, own, seconds);
            add(measured, name, await leastDisturbed(attempts, quiet));
            // Directly after: what else the machine does is most alike then.
            if (neighbour !== undefined) {
              const beside = () => neighbour.during(() => measure(process, own, seconds, neighbour));
              add(disturbed, name, await leastDisturbed(attempts, beside));
            }
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
        busy: medianOf(({ busy }) => busy),
        spread: spread(of.map(({ perCore }) => perCore)),
        ratio: ratioTo(measured.get(key(subject.name, limit))),
        peerRatio: ratioTo(measured.get(key(subject.name, peerOf(contender, subject.name)))),
        ownRatio: ratioTo(measured.get(key(baseOf(subject.name), contender.name))),
        loss: lossOf(of, disturbed.get(key(subject.name, contender.name))),
        rounds: of,
      };
    }),
  );
}

const add = (all: Map<string, Measurement[]>, name: string, measurement: Measurement) =>
  all.set(name, [...(all.get(name) ?? []), measurement]);

/** The loss beside a neighbour, formed within each round; the median. */
export const lossOf = (quiet: readonly Measurement[], disturbed: readonly Measurement[] | undefined) =>
  disturbed && median(quiet.map(({ perCore }, index) => 1 - (disturbed[index]?.perCore ?? NaN) / perCore));

const key = (subject: string, contender: string) => `${subject} / ${contender}`;

/** The middle of some numbers; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  return ((sorted[(length - 1) >> 1] ?? NaN) + (sorted[length >> 1] ?? NaN)) / 2;
}

/** Half of the distance between the least and the most, as a part of the median: 0.05 is ±5%. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2 / median(values);
