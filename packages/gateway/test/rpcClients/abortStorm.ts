import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { finish, isCommand, readCommandLine } from './commandLine.ts';
import { Random } from './random.ts';
import { rawRequest, upgradeRequest } from './rawHttp.ts';
import { megabytes, startRpcProcess, type Subject } from './startRpcProcess.ts';
import type { Report } from './rpcProcess.ts';
import { frame } from './webSocketFrame.ts';

export interface StormOptions {
  readonly subject: Subject;
  readonly aborts: number;
  readonly seed: number;
}

export interface Stormed {
  readonly measured: object;
  /** What should not be. */
  readonly faults: readonly string[];
}

export const shortStorm = { aborts: 1000 } as const;
const longStorm = { aborts: 100_000 } as const;

/** When a client goes away. */
const moments = ['connecting', 'in the head', 'in the body', 'during the call', 'in the answer'] as const;
type Moment = (typeof moments)[number];

interface RequestRecord {
  readonly protocol: 'rest' | 'rpc' | 'stream' | 'webSocket';
  readonly bytes: string | Buffer;
  /** What follows once the server has answered the upgrade. */
  readonly frames?: Buffer;
}

// An hour: what is not aborted would be seen to run on.
const hour = 3_600_000;
const json = { 'content-type': 'application/json' };
const lines = { 'trpc-accept': 'application/jsonl' };
const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const post = (target: string, headers: Record<string, string>, body: string) =>
  rawRequest(target, { method: 'POST', headers, body });
const message = (method: string, path: string, value: unknown, id: number) =>
  JSON.stringify({ id, method, params: { path, input: value } });

const records: readonly RequestRecord[] = [
  { protocol: 'rest', bytes: rawRequest(`/v1/slow?ms=${hour}`) },
  { protocol: 'rest', bytes: rawRequest('/v1/slow?ms=5') },
  { protocol: 'rest', bytes: post('/v1/slow', json, JSON.stringify({ ms: hour })) },
  { protocol: 'rest', bytes: post('/v1/things', json, JSON.stringify({ name: 'x'.repeat(50_000) })) },
  { protocol: 'rpc', bytes: rawRequest(`/trpc/slow?${input({ ms: hour })}`) },
  { protocol: 'rpc', bytes: rawRequest(`/trpc/slow?${input({ ms: 5 })}`) },
  { protocol: 'rpc', bytes: post('/trpc/slowWrite', json, JSON.stringify({ ms: hour })) },
  {
    protocol: 'rpc',
    bytes: post('/trpc/bytes', { 'content-type': 'application/octet-stream' }, 'x'.repeat(200_000)),
  },
  {
    protocol: 'rpc',
    bytes: post(
      '/trpc/upload',
      { 'content-type': 'multipart/form-data; boundary=b' },
      `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'x'.repeat(50_000)}\r\n--b--\r\n`,
    ),
  },
  {
    protocol: 'rpc',
    bytes: rawRequest(`/trpc/slow,slow,hello?batch=1&${input({ 0: { ms: hour }, 1: { ms: 5 } })}`),
  },
  { protocol: 'rpc', bytes: rawRequest(`/trpc/large?${input(3_000_000)}`) },
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
  ].map((texts): RequestRecord => ({
    protocol: 'webSocket',
    bytes: upgradeRequest('/trpc'),
    frames: Buffer.concat(texts.map((text) => frame(text))),
  })),
];

/**
 * Clients that go away at random moments, many at a time: nothing may crash, no call may run on, no memory may be kept.
 *
 * The first quarter is for growing to size. Memory counts as kept where, after a garbage collection, the process is at the
 * end more than a tenth and 32 MB above what it was then, or what JavaScript holds more than a tenth and 8 MB.
 */
export async function abortStorm({ subject, aborts, seed }: StormOptions): Promise<Stormed> {
  const server = await startRpcProcess(subject);
  let begun = 0;
  const counts = new Map<string, number>();
  // The standalone adapter has no REST protocol.
  const possible = records.filter(({ protocol }) => protocol !== 'rest' || subject === 'gateway');
  const faults: string[] = [];

  async function storm(count: number): Promise<void> {
    let left = count;
    const client = async () => {
      while (left > 0 && server.crash() === undefined) {
        left -= 1;
        // Each client has its own, so that what it does comes again whatever the others do.
        const random = new Random(seed * 1_000_003 + (begun += 1));
        const record = random.pick(possible);
        const moment = random.pick(moments);
        const kind = `${record.protocol}, ${moment}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        // The kernel keeps a closed connection's port for a minute: other addresses of loopback have others.
        const localAddress = `127.0.0.${2 + random.below(250)}`;
        await leave(connect({ port: server.port, host: '127.0.0.1', localAddress }), record, moment, random);
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
      await untilIdle(server);
      quarters.push(await server.report());
    }
    const seconds = (performance.now() - started) / 1000;
    const [before, , , after] = quarters;
    if (before === undefined || after === undefined) throw new Error('There are four quarters.');

    const crash = server.crash();
    if (crash !== undefined) faults.push(crash);
    if (after.liveCalls > 0) faults.push(`${after.liveCalls} calls run on without a client`);
    if (after.callsSoFar < aborts / 10) faults.push('hardly a call began: nothing was shown');
    if (after.rss > before.rss * 1.1 + 32 * 1_048_576)
      faults.push(`memory grew from ${megabytes(before.rss)} to ${megabytes(after.rss)} MB`);
    if (after.heap > before.heap * 1.1 + 8 * 1_048_576)
      faults.push(`what JavaScript holds grew from ${megabytes(before.heap)} to ${megabytes(after.heap)} MB`);
    const response = await fetch(`http://127.0.0.1:${server.port}/trpc/hello`);
    if (!(await response.text()).includes('Hello, world!')) faults.push('it answers no more');
    return {
      measured: {
        subject,
        seed,
        aborts,
        seconds: Math.round(seconds * 10) / 10,
        callsBegun: after.callsSoFar,
        liveCallsAfterwards: after.liveCalls,
        rssMB: { start: megabytes(atStart.rss), quarters: quarters.map(({ rss }) => megabytes(rss)) },
        heapMB: { start: megabytes(atStart.heap), quarters: quarters.map(({ heap }) => megabytes(heap)) },
        kinds: Object.fromEntries(counts),
      },
      faults,
    };
  } finally {
    await server.stop();
  }
}

async function untilIdle(server: Awaited<ReturnType<typeof startRpcProcess>>): Promise<void> {
  const end = performance.now() + 10_000;
  while (performance.now() < end && (await server.report()).liveCalls > 0) await sleep(50);
}

/** Does what a client does until this moment, and is gone then: politely, or with a reset. */
function leave(
  socket: Socket,
  { bytes, frames }: RequestRecord,
  moment: Moment,
  random: Random,
): Promise<void> {
  const whole = Buffer.from(bytes);
  const head = whole.indexOf('\r\n\r\n') + 4;
  const isReset = random.fraction() < 0.5;
  const delay = random.below(25);
  return new Promise((resolve) => {
    const go = () => {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    };
    const soon = () => setTimeout(go, delay);
    // Some answers never begin: their client goes too.
    const late = setTimeout(go, 100);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(late);
      resolve();
    });
    if (moment === 'connecting') {
      if (random.fraction() < 0.5) go();
      else socket.once('connect', go);
      return;
    }
    if (moment === 'in the head') {
      socket.write(whole.subarray(0, 1 + random.below(head - 1)), soon);
      return;
    }
    const body = frames ?? whole.subarray(head);
    const isCut = moment === 'in the body' && body.length > 0;
    const sent = isCut ? body.subarray(0, random.below(body.length)) : body;
    const afterSending = () => {
      if (moment !== 'in the answer') soon();
      else socket.once('data', random.fraction() < 0.5 ? go : soon);
    };
    if (frames) {
      socket.write(whole);
      // The answer to the upgrade: what follows it is the answer.
      socket.once('data', () => socket.write(sent, afterSending));
    } else {
      socket.write(Buffer.concat([whole.subarray(0, head), sent]), afterSending);
    }
  });
}

if (isCommand(import.meta)) {
  const { subject, isLong, seed } = readCommandLine();
  const { measured, faults } = await abortStorm({ subject, seed, ...(isLong ? longStorm : shortStorm) });
  finish(measured, faults);
}
