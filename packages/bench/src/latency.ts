import type { Case } from './cases.ts';
import type { Latencies } from './load/fixedRate.ts';
import { runGenerator } from './load/runGenerator.ts';
import { measure } from './measure.ts';
import { median } from './statistics.ts';
import type { Runner } from './throughput.ts';

export interface LatencyResult extends Latencies {
  readonly case: string;
  readonly contender: string;
  /** The part of the contender's own maximum that was asked for. */
  readonly part: number;
  /** Requests a second that were asked for. */
  readonly rate: number;
}

/** Enough that none is waited for below the maximum, and as many as a busy service has. */
const connections = 128;

const parts = [0.5, 0.8];

/** How long a contender's answers take at a fixed offered rate, coordinated omission counted. */
export async function latency(
  { contender, process }: Runner,
  subject: Case,
  seconds: number,
): Promise<readonly LatencyResult[]> {
  if (subject.kind !== 'http') throw new Error(`${subject.name} is no request.`);
  const { method, path, headers } = subject.request;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
  const rates: number[] = [];
  for (let run = 0; run < 3; run++) rates.push((await measure(process, subject, 1)).rate);
  const results: LatencyResult[] = [];
  for (const part of parts) {
    const rate = Math.round(median(rates) * part);
    const options = { port: process.port, request, rate, connections, seconds };
    const latencies = (await runGenerator('fixedRate', options)) as Latencies;
    results.push({ case: subject.name, contender: contender.name, part, rate, ...latencies });
  }
  return results;
}
