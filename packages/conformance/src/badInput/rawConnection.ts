import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of a connection that bytes were sent on. */
export interface RawOutcome {
  readonly received: Buffer;
  /** Whether it neither ended nor brought an answer in time. */
  readonly isHung: boolean;
}

/** How long an answer is waited for until our side of the connection is closed, and how long its end, in milliseconds. */
const pauseMs = 80;
const patienceMs = 2000;

export async function sendRaw(port: number, payload: Buffer): Promise<RawOutcome> {
  // Half open: uWS sees our end and may still answer.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('error', () => {}); // a reset is an end, too
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const ended = new Promise((resolve) => socket.once('end', resolve));
  const response = new Promise((resolve) => {
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      resolve(undefined);
    });
  });
  await Promise.race([once(socket, 'connect'), closed]);
  socket.write(payload);
  await Promise.race([response, ended, closed, sleep(pauseMs)]);
  socket.end();
  const late = await Promise.race([closed, ended, sleep(patienceMs, 'late', { ref: false })]);
  socket.destroy();
  return { received: Buffer.concat(chunks), isHung: late === 'late' && chunks.length === 0 };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The first final answer among the bytes received; `undefined` where there is none, or not the whole of it. */
export function firstResponse(received: Buffer): RawResponse | undefined {
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) return undefined;
  if (status === 100) return firstResponse(received.subarray(end + 4));
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = received.subarray(end + 4);
  const length = Number(headers.get('content-length') ?? (headers.has('connection') ? body.length : 0));
  return body.length < length ? undefined : { status, headers, body: body.subarray(0, length) };
}
