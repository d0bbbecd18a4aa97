import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { inputs } from '@petstore/testing/forms';
import { expect, it, onTestFinished } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import { Random } from '@petstore/testing/random';
import { needs } from '../servers.ts';
import { frame } from '@petstore/testing/webSocketFrames';
import { testSeed } from '../testSeed.ts';
import { rawRequest, upgradeRequest } from '../wire/rawSocket.ts';
import type { Held } from './stormTarget.ts';

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
  readonly bytes: string;
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
  ...[
    rawRequest(`/v1/slow?ms=${hour}`),
    rawRequest('/v1/slow?ms=5'),
    post('/v1/slow', json, JSON.stringify({ ms: hour })),
    post('/v1/things', json, JSON.stringify({ name: 'x'.repeat(50_000) })),
    rawRequest(`/trpc/slow?${input({ ms: hour })}`),
    post('/trpc/slowWrite', json, JSON.stringify({ ms: hour })),
    post('/trpc/bytes', { 'content-type': 'application/octet-stream' }, 'x'.repeat(200_000)),
    post(
      '/trpc/upload',
      { 'content-type': 'multipart/form-data; boundary=b' },
      `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'x'.repeat(50_000)}\r\n--b--\r\n`,
    ),
    rawRequest(`/trpc/slow,slow,hello?batch=1&${input({ 0: { ms: hour }, 1: { ms: 5 } })}`),
    rawRequest(`/trpc/large?${input(3_000_000)}`),
    rawRequest(`/trpc/slow,hello?batch=1&${input({ 0: { ms: hour } })}`, { headers: lines }),
    rawRequest(`/trpc/forever?batch=1&${input({})}`, { headers: lines }),
    rawRequest(`/trpc/floodLines?batch=1&${input({})}`, { headers: lines }),
    rawRequest(`/trpc/ticks?${input({ ms: 3 })}`),
    rawRequest('/trpc/watch'),
    rawRequest('/trpc/observedForever'),
    rawRequest('/trpc/floodEvents'),
  ].map((bytes) => ({ bytes })),
  ...[
    [message('query', 'slow', { ms: hour }, 1)],
    [message('mutation', 'slowWrite', { ms: hour }, 1), message('query', 'large', 500_000, 2)],
    [message('subscription', 'ticks', { ms: 3 }, 1), message('subscription', 'watch', undefined, 2)],
    [message('subscription', 'floodEvents', undefined, 1)],
    [message('subscription', 'observedForever', undefined, 1), '{"id":1,"method":"subscription.stop"}'],
    [`[${message('query', 'slow', { ms: hour }, 1)},${message('query', 'hello', undefined, 2)}]`],
  ].map((texts): StormRequest => ({
    bytes: upgradeRequest('/trpc'),
    frames: Buffer.concat(texts.map((text) => frame(text))),
  })),
];

it('clients that disconnect at random moments leave no running call and no memory, cause no warning, and others are served', async () => {
  needs('a port');
  const file = fileURLToPath(new URL('stormTarget.ts', import.meta.url));
  const server = startPinned(0, file, { ADAPTER: adapterOfRun() });
  onTestFinished(() => server.stop());
  const held = () => server.call<Held>({});
  const { port } = await held();
  const aborts = inputs(1000);
  let connections = 0;

  /** Runs 64 concurrent clients. */
  async function storm(count: number): Promise<void> {
    const last = connections + count;
    const client = async () => {
      while (connections < last) {
        connections += 1;
        // A generator per client, so that the same seed repeats its behavior whatever the others do.
        const random = new Random(testSeed * 1_000_003 + connections);
        // The kernel reserves a closed connection's port for a minute; each loopback address has its own ports.
        const localAddress = `127.0.0.${2 + random.below(250)}`;
        const socket = connect({ port, host: '127.0.0.1', localAddress });
        await sendAndDisconnect(socket, random.pick(requests), random.pick(moments), random);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
    await expect.poll(async () => (await held()).running).toBe(0);
  }

  // The first quarter is the warm-up.
  await storm(aborts / 4);
  const before = await held();
  // On a busy machine, most clients disconnect before their calls start.
  do await storm((aborts * 3) / 4);
  while ((await held()).started < aborts / 10);
  // What aborted calls have allocated is not freed by the first garbage collection.
  await expect.poll(async () => (await held()).heap).toBeLessThan(before.heap * 1.1 + 8_388_608);
  // Such as for a write outside of `cork`.
  expect(server.errorOutput()).not.toContain('Warning: uWS');
  const response = await fetch(`http://127.0.0.1:${port}/trpc/hello`);
  expect(await response.text()).toContain('Hello, world!');
});

/** Sends the request up to the given moment, then closes or resets the connection. */
function sendAndDisconnect(
  socket: Socket,
  { bytes, frames }: StormRequest,
  moment: Moment,
  random: Random,
): Promise<void> {
  const whole = Buffer.from(bytes);
  const head = whole.indexOf('\r\n\r\n') + 4;
  const delay = random.below(25);
  return new Promise((resolve) => {
    const disconnect = random.next() < 0.5 ? () => socket.resetAndDestroy() : () => socket.destroy();
    const soon = () => setTimeout(disconnect, delay);
    // Some responses never begin: their clients disconnect after 100 ms.
    const late = setTimeout(disconnect, 100);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(late);
      resolve();
    });
    if (moment === 'while connecting') {
      if (random.next() < 0.5) disconnect();
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
      else socket.once('data', random.next() < 0.5 ? disconnect : soon);
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
