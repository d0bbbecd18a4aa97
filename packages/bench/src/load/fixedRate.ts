import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

// An open loop: requests are due at fixed times, whether or not the server keeps up, and each one's time runs from when
// it was due, not from when it could be sent. A closed loop, wrk's, waits with the server and so leaves out the worst
// (coordinated omission). A process: `node fixedRate.ts '<options>'` prints `Latencies`.

export interface FixedRateOptions {
  readonly port: number;
  /** The bytes of the request. */
  readonly request: string;
  /** Requests a second. */
  readonly rate: number;
  readonly connections: number;
  readonly seconds: number;
}

/** In milliseconds, of all requests that were due. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** How late requests were sent once they were due and a connection was free, 99th percentile: the generator's own part. */
  readonly ownDelay: number;
  /** Requests answered per second. Where it is less than the rate, the server did not keep up. */
  readonly achieved: number;
}

interface Connection {
  readonly socket: Socket;
  /** When the pending request was due. */
  due: number;
  /** How many bytes of its response are missing. */
  rest: number;
  /** Since when it has nothing to do. */
  freeSince: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as FixedRateOptions;
const request = Buffer.from(options.request);
const total = Math.round(options.rate * options.seconds);
const interval = 1000 / options.rate;
const latencies = new Float64Array(total);
const delays = new Float64Array(total);
let responseBytes = 0;
let response = 0;
let sent = 0;

const free = await Promise.all(Array.from({ length: options.connections }, open));
const start = performance.now();
// Turns of the event loop, not a timer: at 50,000 requests a second they are 20 µs apart.
await new Promise<void>((resolve) => {
  const turn = () => {
    sendDue();
    if (response >= total) resolve();
    else setImmediate(turn);
  };
  turn();
});
const seconds = (performance.now() - start) / 1000;

latencies.sort();
delays.sort();
const at = (values: Float64Array, part: number) =>
  values[Math.min(Math.floor(values.length * part), values.length - 1)] ?? 0;
process.stdout.write(
  JSON.stringify({
    p50: at(latencies, 0.5),
    p99: at(latencies, 0.99),
    p999: at(latencies, 0.999),
    max: at(latencies, 1),
    ownDelay: at(delays, 0.99),
    achieved: total / seconds,
  } satisfies Latencies),
);
process.exit(0);

function sendDue(): void {
  const now = performance.now() - start;
  while (sent < total && sent * interval <= now) {
    const connection = free.pop();
    if (connection === undefined) return;
    connection.due = sent * interval;
    connection.rest = responseBytes;
    delays[sent] = now - Math.max(connection.due, connection.freeSince);
    sent += 1;
    connection.socket.write(request);
  }
}

/** Opens a connection and reads the length of all responses from one: a request's id and the date have a fixed length. */
async function open(): Promise<Connection> {
  const socket = connect(options.port, '127.0.0.1').setNoDelay(true);
  socket.write(request);
  let text = '';
  for (let bytes = -1; bytes < 0 || text.length < bytes;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
    if (end === -1) continue;
    if (length === undefined || !text.startsWith('HTTP/1.1 2')) throw new Error(text);
    bytes = end + 4 + Number(length);
    responseBytes = bytes;
  }
  const connection = { socket, due: 0, rest: 0, freeSince: 0 };
  socket.on('data', (chunk: Buffer) => {
    connection.rest -= chunk.length;
    if (connection.rest > 0) return;
    if (connection.rest < 0) throw new Error('A response was longer than the first.');
    connection.freeSince = performance.now() - start;
    latencies[response] = connection.freeSince - connection.due;
    response += 1;
    free.push(connection);
  });
  socket.on('close', () => {
    throw new Error('The server closed a connection.');
  });
  return connection;
}
