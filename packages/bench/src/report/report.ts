import type { StartResult } from '../startAndMemory.ts';
import type { Result } from '../throughput.ts';

/** A row that is not there, or a field that is blank. */
export interface Blank {
  readonly contender: string;
  /** `undefined`: all of them. */
  readonly case?: string;
  readonly reason: string;
}

/** All that one run found. */
export interface Report {
  readonly at: string;
  /** The command that printed it. */
  readonly command: string;
  /** The machine of the run. Across machines only ratios can be compared. */
  readonly machine: { readonly processor: string; readonly cores: number; readonly node: string };
  readonly rounds: number;
  readonly seconds: number;
  readonly titles: {
    readonly cases: Readonly<Record<string, string>>;
    readonly contenders: Readonly<Record<string, string>>;
  };
  /** Which store each contender serves. */
  readonly stores: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
  readonly blanks: readonly Blank[];
  readonly starts: readonly StartResult[];
}
