import { createReadStream } from 'node:fs';
import { longForm } from '@petstore/testing/forms';
import { describe, expect, it, onTestFinished } from 'vitest';
import { animal, type CompressedOptions, Gate } from './compressedGateway.ts';
import { decode, decodeChunks, openRaw, sendRaw, startCompressed } from './startCompressed.ts';

const codings = ['zstd', 'gzip', 'br'] as const;

const count = longForm ? 10_000 : 1000;
const inputOf = (isApart: boolean, index?: string) => {
  const input = { count, isApart: String(isApart) };
  return encodeURIComponent(JSON.stringify(index === undefined ? input : { [index]: input }));
};

/** Responses, with the share of their bytes that they may have encoded. Values are available at once, or are sent one by one. */
const responses: [what: string, target: string, share: number, accept?: string][] = [
  ['a list of 100', '/v1/animals', 0.25],
  ['a download of 10,000 short rows', '/v1/numbers', 0.6],
  ...[false, true].flatMap((isApart): typeof responses => {
    const how = isApart ? 'sent one by one' : 'sent together';
    return [
      [`events over REST, ${how},`, `/v1/ticks?count=${count}&isApart=${isApart}`, 0.35],
      [`events over tRPC, ${how},`, `/trpc/ticks?input=${inputOf(isApart)}`, 0.35],
      [
        `JSON lines, ${how},`,
        `/trpc/lines?batch=1&input=${inputOf(isApart, '0')}`,
        0.35,
        'application/jsonl',
      ],
    ];
  }),
];

describe.each(codings)('in %s', (coding) => {
  it.each(responses)(
    '%s of GET %s has at most %d of its bytes',
    async (_what, target, share, accept = '') => {
      const server = await startCompressed();
      const send = (accepted: string) =>
        sendRaw(server, target, { headers: { 'accept-encoding': accepted, 'trpc-accept': accept } });
      const [plain, encoded] = [await send('identity'), await send(coding)];
      expect(encoded.headers.get('content-encoding')).toBe(coding);
      expect(decode(encoded.bytes, coding)).toBe(decode(plain.bytes, null));
      expect(encoded.bytes.length / plain.bytes.length).toBeLessThanOrEqual(share);
    },
  );
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
