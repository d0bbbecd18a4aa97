import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { call, startLibrary } from './startLibrary.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 5000, interval: 5 });

describe('a client that does not read', () => {
  it('holds its subscriptions back, and misses nothing when it reads on', async () => {
    const { dial, work, listening } = await startLibrary();
    const client = dial();
    client.send(call(1, 'subscription', 'flood'));
    await once(client.socket, 'message');
    client.socket.pause();
    await sleep(300);
    const held = work.pulled;
    await sleep(200);
    expect(work.pulled).toBe(held);
    client.socket.resume();
    await until(() => expect(work.pulled).toBeGreaterThan(held + 100));
    client.socket.terminate();
    await until(() => expect(listening.inFlight()).toBe(0));
  });

  it('and goes away ends the subscriptions that it held back', async () => {
    const { dial, work } = await startLibrary();
    const client = dial();
    client.send(call(1, 'subscription', 'flood'));
    await once(client.socket, 'message');
    client.socket.pause();
    let pulled = -1;
    await until(() => {
      const before = pulled;
      pulled = work.pulled;
      expect(pulled).toBe(before);
    });
    client.socket.terminate();
    await until(() => expect(work.finished).toEqual(['flood']));
  });

  it.each<[what: string, message: (id: number) => object]>([
    ['answers', (id) => call(id, 'query', 'large', 512)],
    ['an observable, which cannot be held back', (id) => call(id, 'subscription', 'pushed')],
  ])('and is sent %s is closed once they fill what may be kept: 1013', async (_what, message) => {
    const { dial, listening } = await startLibrary({ maxBufferedBytes: 100_000 });
    const client = dial();
    await once(client.socket, 'open');
    client.socket.pause();
    for (let id = 1; id <= 40; id += 1) client.send(message(id));
    await until(() => expect(listening.inFlight()).toBe(0));
    client.socket.resume();
    expect(await client.closed).toEqual([1013, 'The send buffer is full: the client is not reading.']);
  });
});

describe('a client that pings', () => {
  it('and does not read is closed once what is unsent is more than may be kept, pongs too: 1013', async () => {
    // A quarter of this may wait in front of close frames.
    const serveOptions = { maxUnsentSocketBytes: 100_000_000 };
    const { dial, records } = await startLibrary({ maxBufferedBytes: 1000 }, { serveOptions });
    const client = dial();
    await once(client.socket, 'open');
    client.socket.pause();
    // More than the kernel takes; what is unsent is looked at before an answer, so the first is taken whole.
    client.send(call(1, 'query', 'large', 6000));
    await until(() => expect(records).toMatchObject([{ status: 101 }, { operation: 'large' }]));
    client.socket.ping();
    await until(() => expect(records.at(-1)).toMatchObject({ status: 429, limit: 'unsent-bytes' }));
    client.socket.resume();
    expect(await client.closed).toEqual([1013, 'The send buffer is full: the client is not reading.']);
  });
});

describe('the limits of a socket', () => {
  it('close it for a message that is too large: 1009', async () => {
    const { dial } = await startLibrary({ maxMessageBytes: 1000 });
    const client = dial();
    client.send(call(1, 'query', 'large', 'x'.repeat(1000)));
    expect(await client.closed).toEqual([1009, 'The message is larger than 1000 bytes.']);
  });

  it('close it for too many calls at once: 1008', async () => {
    const { dial, listening } = await startLibrary({ maxCallsPerSocket: 3 });
    const client = dial();
    client.send([1, 2, 3].map((id) => call(id, 'subscription', 'silence')));
    await until(() => expect(listening.inFlight()).toBe(3));
    client.send(call(4, 'query', 'caller'));
    expect(await client.closed).toEqual([1008, 'More than 3 calls are running on this socket.']);
    await until(() => expect(listening.inFlight()).toBe(0));
  });

  it('count calls that have ended no more', async () => {
    const { dial } = await startLibrary({ maxCallsPerSocket: 1 });
    const client = dial();
    for (let id = 1; id <= 5; id += 1) {
      client.send(call(id, 'query', 'caller'));
      await until(() => expect(client.messages).toHaveLength(id));
    }
    client.send(call(6, 'subscription', 'silence'));
    await until(() => expect(client.messages).toHaveLength(6));
    client.send({ id: 6, method: 'subscription.stop' });
    await until(() => expect(client.messages).toHaveLength(7));
    client.send(call(7, 'query', 'caller'));
    await until(() => expect(client.messages.at(-1)).toMatchObject({ id: 7, result: { data: 'Ada' } }));
  });
});

describe('a client that goes away', () => {
  it('aborts its queries, mutations and subscriptions, each call of a batch', async () => {
    const { dial, listening, work } = await startLibrary();
    const client = dial();
    client.send([
      call(1, 'query', 'slow', 60_000),
      call(2, 'mutation', 'slowWrite', 60_000),
      call(3, 'subscription', 'ticks'),
    ]);
    await until(() => expect(listening.inFlight()).toBe(3));
    client.socket.terminate();
    await until(() => expect(listening.inFlight()).toBe(0));
    expect(work.aborted.toSorted()).toEqual(['mutation', 'query', 'ticks']);
  });
});

describe('a subscription that does not look at its signal', () => {
  it.each(['/trpc/deaf', '/v1/deaf'])('is over when its client leaves %s', async (path) => {
    const { records: requestRecords, fetch, http, listening } = await startLibrary();
    const leaving = new AbortController();
    const headers = { authorization: 'Bearer good-key', accept: 'text/event-stream' };
    await fetch(`${http}${path}`, { headers, signal: leaving.signal });
    expect(listening.inFlight()).toBe(1);
    leaving.abort();
    await until(() => expect(listening.inFlight()).toBe(0));
    await until(() => expect(requestRecords).toMatchObject([{ operation: 'deaf', isStream: true }]));
  });

  it('is over when its socket is closed, and keeps no server from stopping', async () => {
    const { dial, records, listening } = await startLibrary();
    const client = dial();
    client.send(call(1, 'subscription', 'deaf'));
    await until(() => expect(client.messages).toMatchObject([{ result: { type: 'started' } }]));
    client.socket.terminate();
    await until(() => expect(listening.inFlight()).toBe(0));
    await until(() => expect(records.at(-1)).toMatchObject({ operation: 'deaf', isStream: true }));
    expect(await listening.close({ graceMs: 0 })).toBe(0);
  });
});

describe('calls on a socket', () => {
  it('are told of, each with the request id of its socket', async () => {
    const { dial, records } = await startLibrary();
    const client = dial('/trpc', {
      headers: { authorization: 'Bearer good-key', 'x-request-id': 'given-1' },
    });
    client.send(call(1, 'query', 'caller'));
    client.send(call(2, 'query', 'broken'));
    await until(() => expect(client.messages).toHaveLength(2));
    expect(records).toMatchObject([
      { requestId: 'given-1', method: 'GET', status: 101, operation: undefined },
      { requestId: 'given-1', method: 'WS', status: 200, operation: 'caller', error: undefined },
      { requestId: 'given-1', method: 'WS', status: 500, operation: 'broken', error: { message: 'broken' } },
    ]);
  });
});
