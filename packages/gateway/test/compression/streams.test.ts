import { createReadStream } from 'node:fs';
import { eventually } from '@petstore/testing/eventually';
import { longForm } from '@petstore/testing/forms';
import { describe, expect, it, onTestFinished } from 'vitest';
import { has } from '../servers.ts';
import { animal, Gate } from './compressedGateway.ts';
import { decode, decodeChunks, openRaw, sendRaw, startCompressed } from './startCompressed.ts';

const codings = ['zstd', 'gzip', 'br'] as const;

it.each(codings)('a list of 100 has at most 25% of its bytes in %s', async (coding) => {
  const server = await startCompressed();
  const size = async (accepted: string) => {
    const response = await sendRaw(server, '/v1/animals', { headers: { 'accept-encoding': accepted } });
    return response.bytes.length;
  };
  const [plain, encoded] = [await size('identity'), await size(coding)];
  expect(encoded / plain).toBeLessThanOrEqual(0.25);
});

it.each(codings)('a download of 10,000 short rows has at most 60% of its bytes in %s', async (coding) => {
  const server = await startCompressed();
  const { bytes } = await sendRaw(server, '/v1/numbers', { headers: { 'accept-encoding': coding } });
  const rows = Array.from({ length: 10_000 }, (_, row) => `${row}\n`).join('');
  expect(decode(bytes, coding)).toBe(rows);
  expect(bytes.length / rows.length).toBeLessThanOrEqual(0.6);
});

const count = longForm ? 10_000 : 1000;
const lines = { 'trpc-accept': 'application/jsonl' };

/** What is sent, with a target and headers. The values are available at once, or are sent one by one. */
const formats: readonly (readonly [
  what: string,
  target: (isApart: boolean) => string,
  headers: Record<string, string>,
])[] = [
  ['events over REST', (isApart) => `/v1/ticks?count=${count}&isApart=${isApart}`, {}],
  ['events over tRPC', (isApart) => `/trpc/ticks?input=${inputOf(isApart)}`, {}],
  ['JSON lines', (isApart) => `/trpc/lines?batch=1&input=${inputOf(isApart, '0')}`, lines],
];
const inputOf = (isApart: boolean, index?: string) => {
  const input = { count, isApart: String(isApart) };
  return encodeURIComponent(JSON.stringify(index === undefined ? input : { [index]: input }));
};

describe.each(codings)(`${count} values in %s`, (coding) => {
  const rows = formats.flatMap(([what, target, headers]) =>
    [false, true].map((isApart) => ({ what, target: target(isApart), headers, isApart })),
  );
  it.each(rows)('$what have at most 35% of their bytes, sent one by one: $isApart', async (row) => {
    const { headers, target } = row;
    const server = await startCompressed();
    const send = (accepted: string) =>
      sendRaw(server, target, { headers: { ...headers, 'accept-encoding': accepted } });
    const [plain, encoded] = [await send('identity'), await send(coding)];
    expect(encoded.headers.get('content-encoding')).toBe(coding);
    const text = decode(encoded.bytes, coding);
    expect(text).toBe(decode(plain.bytes, null));
    expect(text.split('"createdAt"')).toHaveLength(count + 1);
    expect(encoded.bytes.length / plain.bytes.length).toBeLessThanOrEqual(0.35);
  });
});

/** Reads the events of a stream, one after the other. */
async function openEvents(coding: string | null, gate: Gate, target = '/v1/gated') {
  const server = await startCompressed({}, gate);
  const headers = { 'accept-encoding': coding ?? 'identity' };
  const stream = await openRaw(server, target, { headers });
  onTestFinished(() => stream.close());
  const decoded = decodeChunks(stream.chunks, coding)[Symbol.asyncIterator]();
  let text = '';
  return {
    ...stream,
    async until(id: number) {
      while (!text.includes(`"id":${id},`)) text += String((await decoded.next()).value);
      return text;
    },
  };
}

it.each(codings)('each event is sent at once in %s, though no other follows', async (coding) => {
  const gate = new Gate();
  const events = await openEvents(coding, gate);
  expect(events.headers.get('content-encoding')).toBe(coding);
  for (let id = 1; id <= 20; id += 1) {
    expect(await events.until(id)).toContain(JSON.stringify(animal(id)));
    gate.release();
  }
});

it.each(codings)('each row of a download is sent in %s when its producer waits', async (coding) => {
  const gate = new Gate();
  const rows = await openEvents(coding, gate, '/v1/gated-rows');
  for (let id = 1; id <= 20; id += 1) {
    expect(await rows.until(id)).toContain(`{"id":${id},}`);
    gate.release();
  }
});

it.each([null, ...codings])('a client that does not read holds back the producer (%s)', async (coding) => {
  const gate = new Gate();
  const server = await startCompressed({}, gate);
  const stream = await openRaw(server, '/v1/flood', {
    headers: { 'accept-encoding': coding ?? 'identity' },
  });
  onTestFinished(() => stream.close());
  const reader = stream.chunks[Symbol.asyncIterator]();
  await reader.next();
  let last = -1;
  const isHeld = async () => {
    const before = last;
    last = gate.yielded;
    return before === last;
  };
  // Until nothing was produced for a while: the buffers of the sockets are full.
  await expect.poll(isHeld, { interval: 300 }).toBe(true);
  const held = gate.yielded;
  // Once it reads, the producer continues.
  const read = (async () => {
    while (gate.yielded < held + 1000) {
      if ((await reader.next()).done) return;
    }
  })();
  await read;
  expect(gate.yielded).toBeGreaterThanOrEqual(held + 1000);
});

it.each(codings)('clients that open and drop streams in %s leave none open', async (coding) => {
  const gate = new Gate();
  const server = await startCompressed({}, gate);
  const headers = { 'accept-encoding': coding };
  let opened = 0;
  for (let round = 0; round < 10; round += 1) {
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => openRaw(server, '/v1/gated', { headers })),
    );
    // Some before their first event, some after it.
    if (round % 2 === 0)
      await Promise.all(streams.map(({ chunks }) => chunks[Symbol.asyncIterator]().next()));
    opened += streams.filter(({ headers: sent }) => sent.get('content-encoding') === coding).length;
    for (const { close } of streams) close();
  }
  expect(opened).toBe(200);
  await eventually(
    () => `${gate.open} subscriptions are open.`,
    () => gate.open === 0,
  );
  if (has('a port')) {
    await eventually(
      () => `${server.inFlight()} requests are in flight.`,
      () => server.inFlight() === 0,
    );
  }
});

it('HEAD of a stream ends its producer', async () => {
  const gate = new Gate();
  const server = await startCompressed({}, gate);
  const { status } = await sendRaw(server, '/v1/gated', {
    method: 'HEAD',
    headers: { 'accept-encoding': 'gzip' },
  });
  expect(status).toBe(200);
  await eventually(
    () => `${gate.open} subscriptions are open.`,
    () => gate.open === 0,
  );
});

it.each([true, false])('HEAD of a route closes its file (compression: %s)', async (compression) => {
  const file = createReadStream(import.meta.filename);
  const routes = {
    '/file': () => ({ status: 200, headers: [['content-type', 'text/plain']] as const, body: file }),
  };
  const server = await startCompressed({ compression, routes });
  const { status } = await sendRaw(server, '/file', {
    method: 'HEAD',
    headers: { 'accept-encoding': 'gzip' },
  });
  expect(status).toBe(200);
  await eventually(
    () => 'The file is open.',
    () => file.destroyed,
  );
});
