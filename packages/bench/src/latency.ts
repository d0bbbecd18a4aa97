import type { Case } from './cases.ts';
import { sendAtRate } from './load/sendAtRate.ts';
import type { Latencies } from './load/fixedRate.ts';
import { measure } from './measure.ts';
import { median } from './statistics.ts';
import type { Runner } from './throughput.ts';

export interface LatencyResult extends Latencies {
  readonly case: string;
  readonly contender: string;
  /** The offered rate as a part of the contender's own maximum. */
  readonly part: number;
  /** The offered rate, in requests a second. */
  readonly rate: number;
}

const parts = [0.5, 0.8];

/** The latency of a contender at a fixed offered rate, corrected for coordinated omission. */
export async function latency(
  { contender, process }: Runner,
  subject: Case,
  seconds: number,
): Promise<readonly LatencyResult[]> {
  if (subject.kind !== 'http') throw new Error(`${subject.name} is no request.`);
  const rates: number[] = [];
  for (let run = 0; run < 3; run++) rates.push((await measure(process, subject, 1)).rate);
  const results: LatencyResult[] = [];
  for (const part of parts) {
    const rate = Math.round(median(rates) * part);
    const latencies = await sendAtRate(process.port, subject.request, { rate, seconds });
    results.push({ case: subject.name, contender: contender.name, part, rate, ...latencies });
  }
  return results;
}
