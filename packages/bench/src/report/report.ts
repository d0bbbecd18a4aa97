import type { Result } from '../throughput.ts';

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
  readonly results: readonly Result[];
}
