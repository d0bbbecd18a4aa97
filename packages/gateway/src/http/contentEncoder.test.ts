import { Readable } from 'node:stream';
import { constants, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentEncoders, encodeBody, type ContentCoding } from './contentEncoder.ts';
import type { BodyStream } from './response.ts';

const codings: readonly ContentCoding[] = ['zstd', 'br', 'gzip'];

function encoded(source: BodyStream, coding: ContentCoding = 'gzip') {
  const encoder = contentEncoders().get(coding);
  if (encoder === undefined) throw new Error(`This runtime has no ${coding}.`);
  return (encodeBody(source, coding, encoder) as BodyStream)[Symbol.asyncIterator]();
}

async function readUntil(iterator: AsyncIterator<Uint8Array>, text: string): Promise<void> {
  const chunks: Uint8Array[] = [];
  const decoded = () => String(gunzipSync(Buffer.concat(chunks), { finishFlush: constants.Z_SYNC_FLUSH }));
  do {
    chunks.push((await iterator.next()).value as Uint8Array);
  } while (decoded() !== text);
}

describe('an encoded stream', () => {
  it('sends what its source yields before it fails', async () => {
    const iterator = encoded(
      (async function* () {
        yield Buffer.from('one');
        throw new Error('no');
      })(),
    );
    await readUntil(iterator, 'one');
    await expect(iterator.next()).rejects.toThrow('no');
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('sends what its source has yielded though the next chunk never comes, and ends when its reader leaves', async () => {
    const source = new Readable({ read() {} });
    const iterator = encoded(source);
    source.push('one');
    await readUntil(iterator, 'one');
    void iterator.next().catch(() => {});
    await iterator.return?.();
    expect(source.destroyed).toBe(true);
  });

  it('destroys a source of Node whose reader leaves before the first chunk', async () => {
    const source = new Readable({ read() {} });
    await encoded(source).return?.();
    expect(source.destroyed).toBe(true);
  });

  it.each(codings)('requests at most 16 kB and a chunk ahead of its reader in %s', async (coding) => {
    let yielded = 0;
    const iterator = encoded(
      (async function* () {
        // As much as it can: if it were read to its end, the test would fail and not hang.
        for (; yielded < 1000; yielded += 1) yield Buffer.alloc(1024);
      })(),
      coding,
    );
    for (let chunks = 1; chunks <= 3; chunks += 1) {
      const { value } = await iterator.next();
      expect(value?.byteLength).toBeGreaterThan(0);
      expect(yielded).toBeLessThanOrEqual(16 * chunks + 1);
    }
    await iterator.return?.();
  });
});
