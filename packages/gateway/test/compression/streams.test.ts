import { createReadStream } from 'node:fs';
import { longForm } from '@petstore/testing/forms';
import { describe, expect, it, onTestFinished } from 'vitest';
import { animal, type CompressedOptions, Gate } from './compressedGateway.ts';
import { decode, decodeChunks, openRaw, sendRaw, startCompressed } from './startCompressed.ts';

const codings = ['zstd', 'gzip', 'br'] as const;

describe.each(codings)('in %s', (coding) => {
  it.each([
    ['a list of 100', '/v1/animals', 0.25],
    ['a download of 10,000 short rows', '/v1/numbers', 0.6],
  ])('%s of GET %s has at most %d of its bytes', async (_what, target, share) => {
    const server = await startCompressed();
    const send = (accepted: string) => sendRaw(server, target, { headers: { 'accept-encoding': accepted } });
    const [plain, encoded] = [await send('identity'), await send(coding)];
    expect(decode(encoded.bytes, coding)).toBe(decode(plain.bytes, null));
    expect(encoded.bytes.length / plain.bytes.length).toBeLessThanOrEqual(share);
  });
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
async function openEvents(coding: string, gate: Gate, target: string) {
  const server = await startCompressed({}, gate);
  const stream = await openRaw(server, target, { headers: { 'accept-encoding': coding } });
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

describe.each(codings)('in %s', (coding) => {
  it.each([
    ['event', '/v1/gated', (id: number) => JSON.stringify(animal(id))],
    ['row of a download', '/v1/gated-rows', (id: number) => `{"id":${id},}`],
  ])('each %s of GET %s is sent at once, though no other follows', async (_what, target, textOf) => {
    const gate = new Gate();
    const stream = await openEvents(coding, gate, target);
    expect(stream.headers.get('content-encoding')).toBe(coding);
    for (let id = 1; id <= 20; id += 1) {
      expect(await stream.until(id)).toContain(textOf(id));
      gate.release();
    }
  });
});

/** Sends HEAD for a compressed body that nothing reads. */
async function sendHead(options: CompressedOptions, target: string, gate?: Gate): Promise<void> {
  const server = await startCompressed(options, gate);
  const headers = { 'accept-encoding': 'gzip' };
  expect((await sendRaw(server, target, { method: 'HEAD', headers })).status).toBe(200);
}

it('HEAD of a stream ends its producer', async () => {
  const gate = new Gate();
  await sendHead({}, '/v1/gated', gate);
  await expect.poll(() => gate.open).toBe(0);
});

it.each([true, false])('HEAD of a route closes its file (compression: %s)', async (compression) => {
  const file = createReadStream(import.meta.filename);
  const routes = {
    '/file': () => ({ status: 200, headers: [['content-type', 'text/plain']] as const, body: file }),
  };
  await sendHead({ compression, routes }, '/file');
  await expect.poll(() => file.destroyed).toBe(true);
});
