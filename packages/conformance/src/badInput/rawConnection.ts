import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The outcome of a connection after bytes were sent on it. */
export interface RawOutcome {
  readonly received: Buffer;
  /** True if the connection neither ended nor delivered a byte in time. */
  readonly isHung: boolean;
}

/** Time to wait for a response before this side closes its half of the connection, in milliseconds. */
const responseWaitMs = 80;
/** Time to wait for the server to end the connection afterwards, in milliseconds. */
const closeWaitMs = 2000;

/** Sends bytes on a new connection and returns the bytes received until it ends. */
export async function sendRaw(port: number, payload: Buffer): Promise<RawOutcome> {
  // Half open: uWS sees the end of our side and can still respond.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('error', () => {}); // a reset also ends the connection
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
  await Promise.race([response, ended, closed, sleep(responseWaitMs)]);
  socket.end();
  const late = await Promise.race([closed, ended, sleep(closeWaitMs, 'late', { ref: false })]);
  socket.destroy();
  return { received: Buffer.concat(chunks), isHung: late === 'late' && chunks.length === 0 };
}

/** A response parsed from raw bytes. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Parses the first final response in the bytes received; `undefined` if there is none or it is incomplete. */
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
