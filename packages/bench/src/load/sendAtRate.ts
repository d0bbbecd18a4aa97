import type { CaseRequest } from '../cases.ts';
import type { Latencies } from './fixedRate.ts';
import { runGenerator } from './runGenerator.ts';

/** Enough that none is waited for below the maximum, and as many as a busy service has. */
const connections = 128;

/** Sends requests without a body at a fixed rate, so many a second, whether or not the server keeps up. */
export async function sendAtRate(
  port: number,
  { method, path, headers }: CaseRequest,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Latencies> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
  return (await runGenerator('fixedRate', { port, request, rate, connections, seconds })) as Latencies;
}
