import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { CaseRequest } from '../cases.ts';
import { loadCore, onCore } from '../cores.ts';

const script = fileURLToPath(new URL('load.lua', import.meta.url));

const Counted = z.object({
  requests: z.int(),
  microseconds: z.int(),
  /** Connections that could not be opened or broke, and answers that did not come within 10 s. */
  failures: z.int(),
  /** Answers with a status of 400 and more. */
  errors: z.int(),
});

export interface WrkOptions {
  readonly port: number;
  /** At least one. Several are sent in turn. */
  readonly requests: readonly CaseRequest[];
  readonly connections: number;
  readonly seconds: number;
}

/** Sends requests as fast as the server responds, with wrk. @throws {Error} for a response that is an error */
export async function wrk({ port, requests: sent, connections, seconds }: WrkOptions) {
  // A variable of the environment may not be as long as a body.
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  const requestsFile = join(folder, 'requests');
  // A request has no byte 0.
  await writeFile(requestsFile, sent.map(bytesOf).join('\0'));
  const [file, ...args] = onCore(loadCore, [
    'wrk',
    '--threads=1',
    `--connections=${connections}`,
    '--timeout=10s',
    // wrk takes whole seconds. A shorter run is interrupted, and reports how long it was.
    `--duration=${Math.ceil(seconds) + 1}s`,
    `--script=${script}`,
    `http://127.0.0.1:${port}`,
  ]);
  const child = spawn(file, args, {
    env: { PATH: process.env['PATH'], LOAD_REQUESTS_FILE: requestsFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const exited = once(child, 'close');
  await Promise.race([sleep(seconds * 1000), exited]);
  child.kill('SIGINT');
  await exited;
  await rm(folder, { recursive: true });
  const counted = /^\{.*\}$/m.exec(printed)?.[0];
  if (counted === undefined) throw new Error(`wrk printed no result: ${printed}`);
  const { requests, microseconds, failures, errors } = Counted.parse(JSON.parse(counted));
  // Bun, under Elysia, closes a connection that a request asks it to close without saying so in the response, which wrk
  // counts.
  const closing = sent.filter(({ headers }) => headers['connection'] === 'close').length / sent.length;
  if (failures > Math.ceil(requests * closing) + (closing > 0 ? connections : 0))
    throw new Error(`${failures} of ${requests} requests failed.`);
  if (errors > 0) throw new Error(`${errors} of ${requests} responses were errors.`);
  return { requests, seconds: microseconds / 1e6 };
}

/** A request as it is sent: its body in one chunk (RFC 9112 §7.1) if its headers say so. */
function bytesOf({ method, path, headers, body = '' }: CaseRequest): string {
  const isChunked = headers['transfer-encoding'] === 'chunked';
  const length = Buffer.byteLength(body);
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    ...(method === 'POST' && !isChunked && { 'content-length': String(length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const sentBody = isChunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${sentBody}`;
}

/** @throws {Error} one sentence that names the remedy, where wrk is not there */
export async function checkWrk(): Promise<void> {
  try {
    await promisify(execFile)('which', ['wrk']);
  } catch {
    throw new Error('The bench needs wrk: on Debian and Ubuntu, apt-get install -y wrk.');
  }
}
