import { connect, type Socket } from 'node:net';
import type { Measured } from '../load/levels.ts';
import { runCommand } from './commandLine.ts';
import { Random } from './random.ts';
import { rawRequest, upgradeRequest } from './rawHttp.ts';
import { megabytes, startRpcProcess, type Subject } from './startRpcProcess.ts';
import type { Report } from './rpcProcess.ts';
import { frame } from './webSocketFrame.ts';

interface StormOptions {
  readonly subject: Subject;
  readonly aborts: number;
  readonly seed: number;
}

export const shortStorm = { aborts: 1000 } as const;
const longStorm = { aborts: 100_000 } as const;

/** When a client disconnects. */
const moments = [
  'while connecting',
  'in the request head',
  'in the request body',
  'during the call',
  'during the response',
] as const;
type Moment = (typeof moments)[number];

interface StormRequest {
  readonly protocol: 'rest' | 'trpc' | 'stream' | 'webSocket';
  readonly bytes: string | Buffer;
  /** WebSocket frames, sent once the server has answered the upgrade. */
  readonly frames?: Buffer;
}

// Calls last an hour, so one that is not aborted is still running at the end.
const hour = 3_600_000;
const json = { 'content-type': 'application/json' };
const lines = { 'trpc-accept': 'application/jsonl' };
const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const post = (target: string, headers: Record<string, string>, body: string) =>
  rawRequest(target, { method: 'POST', headers, body });
const message = (method: string, path: string, value: unknown, id: number) =>
  JSON.stringify({ id, method, params: { path, input: value } });

const requests: readonly StormRequest[] = [
  { protocol: 'rest', bytes: rawRequest(`/v1/slow?ms=${hour}`) },
  { protocol: 'rest', bytes: rawRequest('/v1/slow?ms=5') },
  { protocol: 'rest', bytes: post('/v1/slow', json, JSON.stringify({ ms: hour })) },
  { protocol: 'rest', bytes: post('/v1/things', json, JSON.stringify({ name: 'x'.repeat(50_000) })) },
  { protocol: 'trpc', bytes: rawRequest(`/trpc/slow?${input({ ms: hour })}`) },
  { protocol: 'trpc', bytes: rawRequest(`/trpc/slow?${input({ ms: 5 })}`) },
  { protocol: 'trpc', bytes: post('/trpc/slowWrite', json, JSON.stringify({ ms: hour })) },
  {
    protocol: 'trpc',
    bytes: post('/trpc/bytes', { 'content-type': 'application/octet-stream' }, 'x'.repeat(200_000)),
  },
  {
    protocol: 'trpc',
    bytes: post(
      '/trpc/upload',
      { 'content-type': 'multipart/form-data; boundary=b' },
      `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'x'.repeat(50_000)}\r\n--b--\r\n`,
    ),
  },
  {
    protocol: 'trpc',
    bytes: rawRequest(`/trpc/slow,slow,hello?batch=1&${input({ 0: { ms: hour }, 1: { ms: 5 } })}`),
  },
  { protocol: 'trpc', bytes: rawRequest(`/trpc/large?${input(3_000_000)}`) },
  {
    protocol: 'stream',
    bytes: rawRequest(`/trpc/slow,hello?batch=1&${input({ 0: { ms: hour } })}`, { headers: lines }),
  },
  { protocol: 'stream', bytes: rawRequest(`/trpc/forever?batch=1&${input({})}`, { headers: lines }) },
  { protocol: 'stream', bytes: rawRequest(`/trpc/floodLines?batch=1&${input({})}`, { headers: lines }) },
  { protocol: 'stream', bytes: rawRequest(`/trpc/ticks?${input({ everyMs: 3 })}`) },
  { protocol: 'stream', bytes: rawRequest('/trpc/watch') },
  { protocol: 'stream', bytes: rawRequest('/trpc/observedForever') },
  { protocol: 'stream', bytes: rawRequest('/trpc/floodEvents') },
  ...[
    [message('query', 'slow', { ms: hour }, 1)],
    [message('mutation', 'slowWrite', { ms: hour }, 1), message('query', 'large', 500_000, 2)],
    [message('subscription', 'ticks', { everyMs: 3 }, 1), message('subscription', 'watch', undefined, 2)],
    [message('subscription', 'floodEvents', undefined, 1)],
    [message('subscription', 'observedForever', undefined, 1), '{"id":1,"method":"subscription.stop"}'],
    [`[${message('query', 'slow', { ms: hour }, 1)},${message('query', 'hello', undefined, 2)}]`],
  ].map((texts): StormRequest => ({
    protocol: 'webSocket',
    bytes: upgradeRequest('/trpc'),
    frames: Buffer.concat(texts.map((text) => frame(text))),
  })),
];

/**
 * Runs 64 concurrent clients that disconnect at random moments, and reports a crash, a call that is still running,
 * leaked memory and a warning of uWebSockets.js.
 *
 * The first quarter is the warm-up. Memory has leaked if, at the end and after a garbage collection, the resident memory is
 * more than 10 % and 32 MB above its value after the first quarter, or JavaScript's memory more than 10 % and 8 MB.
 */
export async function abortStorm({ subject, aborts, seed }: StormOptions): Promise<Measured> {
  const server = await startRpcProcess(subject);
  let connections = 0;
  const counts = new Map<string, number>();
  // The standalone adapter has no REST protocol.
  const possible = requests.filter(({ protocol }) => protocol !== 'rest' || subject === 'gateway');
  const problems: string[] = [];

  async function storm(count: number): Promise<void> {
    let left = count;
    const client = async () => {
      while (left > 0 && server.crash() === undefined) {
        left -= 1;
        // A generator per client, so that the same seed repeats its behavior whatever the others do.
        const random = new Random(seed * 1_000_003 + (connections += 1));
        const request = random.pick(possible);
        const moment = random.pick(moments);
        const kind = `${request.protocol}, ${moment}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        // The kernel reserves a closed connection's port for a minute; each loopback address has its own ports.
        const localAddress = `127.0.0.${2 + random.below(250)}`;
        await sendAndDisconnect(
          connect({ port: server.port, host: '127.0.0.1', localAddress }),
          request,
          moment,
          random,
        );
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
  }

  try {
    const atStart = await server.report();
    const started = performance.now();
    const quarters: Report[] = [];
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await storm(aborts / 4);
      quarters.push(await server.reportWhenIdle());
    }
    const seconds = (performance.now() - started) / 1000;
    const [before, , , after] = quarters;
    if (before === undefined || after === undefined) throw new Error('The storm runs in four quarters.');

    const crash = server.crash();
    if (crash !== undefined) problems.push(crash);
    if (after.liveCalls > 0)
      problems.push(`${after.liveCalls} calls are still running after their clients disconnected`);
    if (after.callsSoFar < aborts / 10)
      problems.push(
        `only ${after.callsSoFar} calls started: at least ${aborts / 10} are needed for a meaningful result`,
      );
    if (after.rss > before.rss * 1.1 + 32 * 1_048_576)
      problems.push(`resident memory grew from ${megabytes(before.rss)} to ${megabytes(after.rss)} MB`);
    if (after.heap > before.heap * 1.1 + 8 * 1_048_576)
      problems.push(`JavaScript memory grew from ${megabytes(before.heap)} to ${megabytes(after.heap)} MB`);
    // Such as for a write outside of `cork`.
    const [warning] = /^Warning: uWS.*/m.exec(server.stderr()) ?? [];
    if (warning !== undefined) problems.push(`the server printed "${warning}"`);
    const response = await fetch(`http://127.0.0.1:${server.port}/trpc/hello`);
    if (!(await response.text()).includes('Hello, world!'))
      problems.push('the server no longer answers GET /trpc/hello');
    return {
      measured: {
        subject,
        seed,
        aborts,
        seconds: Math.round(seconds * 10) / 10,
        callsStarted: after.callsSoFar,
        liveCallsAfterwards: after.liveCalls,
        rssMB: { start: megabytes(atStart.rss), quarters: quarters.map(({ rss }) => megabytes(rss)) },
        heapMB: { start: megabytes(atStart.heap), quarters: quarters.map(({ heap }) => megabytes(heap)) },
        abortsByProtocolAndMoment: Object.fromEntries(counts),
      },
      problems,
    };
  } finally {
    await server.stop();
  }
}

/** Sends the request up to the given moment, then closes or resets the connection. */
function sendAndDisconnect(
  socket: Socket,
  { bytes, frames }: StormRequest,
  moment: Moment,
  random: Random,
): Promise<void> {
  const whole = Buffer.from(bytes);
  const head = whole.indexOf('\r\n\r\n') + 4;
  const isReset = random.fraction() < 0.5;
  const delay = random.below(25);
  return new Promise((resolve) => {
    const disconnect = () => {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    };
    const soon = () => setTimeout(disconnect, delay);
    // Some responses never begin: their clients disconnect after 100 ms.
    const late = setTimeout(disconnect, 100);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(late);
      resolve();
    });
    if (moment === 'while connecting') {
      if (random.fraction() < 0.5) disconnect();
      else socket.once('connect', disconnect);
      return;
    }
    if (moment === 'in the request head') {
      socket.write(whole.subarray(0, 1 + random.below(head - 1)), soon);
      return;
    }
    const body = frames ?? whole.subarray(head);
    const isCut = moment === 'in the request body' && body.length > 0;
    const sent = isCut ? body.subarray(0, random.below(body.length)) : body;
    const afterSending = () => {
      if (moment !== 'during the response') soon();
      else socket.once('data', random.fraction() < 0.5 ? disconnect : soon);
    };
    if (frames) {
      socket.write(whole);
      // The first data is the response to the upgrade; later data answers the frames.
      socket.once('data', () => socket.write(sent, afterSending));
    } else {
      socket.write(Buffer.concat([whole.subarray(0, head), sent]), afterSending);
    }
  });
}

await runCommand(import.meta, ({ subject, isLong, seed }) =>
  abortStorm({ subject, seed, ...(isLong ? longStorm : shortStorm) }),
);
