import { describe, expect, it } from 'vitest';
import { EventBody } from './eventBody.ts';

const utf8 = new TextEncoder();

/** A body of these pieces, then of what is pushed, and what became of it. */
function bodyOf(format: 'sse' | 'jsonl', ...pieces: string[]) {
  const seen = { cancelled: false, watched: 0, revoke: () => {} };
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(made) {
      controller = made;
      for (const piece of pieces) made.enqueue(utf8.encode(piece));
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  const body = new EventBody(stream, format, (onRevoked) => {
    seen.watched += 1;
    seen.revoke = onRevoked;
    return () => (seen.watched -= 1);
  });
  return { body, seen, close: () => controller?.close(), fail: () => controller?.error(new Error('no')) };
}

const texts = async (body: AsyncIterable<Uint8Array>) => {
  const received: string[] = [];
  for await (const chunk of body) received.push(Buffer.from(chunk).toString());
  return received;
};

describe('a body of events', () => {
  it('gives an event at a time, however it was written', async () => {
    const { body, close } = bodyOf('sse', 'data: 1\n', 'id: 1\n', '\n\n', 'data: 2\n', '\n\n');
    close();
    expect(await texts(body)).toEqual(['data: 1\nid: 1\n\n\n', 'data: 2\n\n\n']);
  });

  it('of lines gives each piece as it is', async () => {
    const { body, close } = bodyOf('jsonl', '{}\n', ' ', '[]\n');
    close();
    expect(await texts(body)).toEqual(['{}\n', ' ', '[]\n']);
    expect(body.end).toBeUndefined();
  });

  it.each(['end', 'revoke'] as const)('that is told to %s gives no part of an event', async (how) => {
    const { body, seen } = bodyOf('sse', 'data: 1\n', '\n\n', 'data: 2\n');
    const events = body[Symbol.asyncIterator]();
    expect((await events.next()).done).toBe(false);
    const pending = events.next();
    if (how === 'end') body.end?.();
    else seen.revoke();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(seen).toMatchObject({ cancelled: true, watched: 0 });
  });

  it('is given up while an event is awaited', async () => {
    const { body, seen } = bodyOf('sse');
    const events = body[Symbol.asyncIterator]();
    const pending = events.next();
    await events.return?.();
    expect((await pending).done).toBe(true);
    expect(seen).toMatchObject({ cancelled: true, watched: 0 });
  });

  it('is given up without waiting for a producer that never ends', async () => {
    const stream = new ReadableStream<Uint8Array>({ cancel: () => new Promise(() => {}) });
    const events = new EventBody(stream, 'sse', () => () => {})[Symbol.asyncIterator]();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
  });

  it('is watched until it is over, or fails, and not before it is sent', async () => {
    const { body, seen, fail } = bodyOf('sse');
    expect(seen.watched).toBe(0);
    const events = body[Symbol.asyncIterator]();
    expect(seen.watched).toBe(1);
    fail();
    await expect(events.next()).rejects.toThrow('no');
    expect(seen.watched).toBe(0);
  });
});
