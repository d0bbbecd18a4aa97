import type { Case, CaseRequest } from './cases.ts';
import type { Latencies } from './load/fixedRate.ts';
import { runGenerator } from './load/runGenerator.ts';
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

/** Enough that none is waited for below the maximum, and as many as a busy service has. */
const connections = 128;

/** Sends requests without a body at a fixed rate, so many a second, whether or not the server keeps up. */
async function sendAtRate(
  port: number,
  { method, path, headers }: CaseRequest,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Latencies> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
  return (await runGenerator('fixedRate', { port, request, rate, connections, seconds })) as Latencies;
}
