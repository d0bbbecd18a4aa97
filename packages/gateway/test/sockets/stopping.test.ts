import { describe, expect, it, vi } from 'vitest';
import { call, startLibrary } from './startLibrary.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 5000, interval: 5 });
const reconnect = { id: null, method: 'reconnect' };
const key = { headers: { authorization: 'Bearer good-key' } };

describe('a server that stops', () => {
  it('tells the clients of quiet sockets to connect anew, and closes them: 1001', async () => {
    const { dial, listening } = await startLibrary();
    const client = dial();
    client.send(call(1, 'subscription', 'ticks'));
    await until(() => expect(client.messages.length).toBeGreaterThan(2));
    expect(await listening.close()).toBe(0);
    expect(await client.closed).toEqual([1001, 'The server is stopping.']);
    expect(client.messages.at(-1)).toEqual(reconnect);
    expect(JSON.stringify(client.messages)).not.toContain('stopped');
  });

  it('answers what it was asked first: a client would ask it again', async () => {
    const { dial, listening, work } = await startLibrary();
    const client = dial();
    client.send(call(1, 'mutation', 'slowWrite', 200));
    await until(() => expect(listening.inFlight()).toBe(1));
    expect(await listening.close()).toBe(0);
    expect((await client.closed)[0]).toBe(1001);
    expect(work.finished).toEqual(['mutation']);
    expect(client.messages).toMatchObject([{ id: 1, result: { data: 'mutation' } }, reconnect]);
  });

  it.each(['/trpc/ticks', '/v1/ticks'])('ends the events of %s after one of them', async (path) => {
    const { fetch, http, listening, work } = await startLibrary();
    const response = await fetch(`${http}${path}`, key);
    const text = response.text();
    await until(() => expect(listening.inFlight()).toBe(1));
    expect(await listening.close()).toBe(0);
    expect(await text).toMatch(/data: \d+\n\n+$/);
    await until(() => expect(work.aborted).toEqual(['ticks']));
  });

  it.each(['/trpc/silence', '/trpc/deaf', '/v1/deaf'])(
    'ends the events of %s in order, which sends none and may ignore its signal',
    async (path) => {
      const { fetch, http, listening } = await startLibrary();
      const response = await fetch(`${http}${path}`, key);
      // It fails where the last chunk is missing.
      const text = response.text();
      await until(() => expect(listening.inFlight()).toBe(1));
      expect(await listening.close()).toBe(0);
      expect(await text).not.toContain('data: 1');
    },
  );

  it('lets lines come to their end', async () => {
    const { fetch, http, listening } = await startLibrary();
    const response = await fetch(`${http}/trpc/slow?batch=1&input=${encodeURIComponent('{"0":200}')}`, {
      headers: { ...key.headers, 'trpc-accept': 'application/jsonl' },
    });
    const text = response.text();
    expect(await listening.close()).toBe(0);
    expect(await text).toContain('"query"');
  });

  it('waits for the calls of a socket that is gone, and not for its subscriptions', async () => {
    const { dial, listening, work } = await startLibrary();
    const client = dial();
    client.send([call(1, 'mutation', 'deafWrite', 300), call(2, 'subscription', 'deafForSeconds')]);
    await until(() => expect(listening.inFlight()).toBe(2));
    client.socket.terminate();
    await until(() => expect(listening.connections().webSockets).toBe(0));
    const begun = performance.now();
    expect(await listening.close({ deadlineMs: 8000, graceMs: 0 })).toBe(0);
    expect(work.finished).toEqual(['deafWrite']);
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('closes at the deadline what has not ended, and counts it', async () => {
    const { dial, listening } = await startLibrary();
    const client = dial();
    client.send(call(1, 'query', 'slow', 60_000));
    await until(() => expect(listening.inFlight()).toBe(1));
    expect(await listening.close({ deadlineMs: 50 })).toBe(1);
    expect((await client.closed)[0]).toBe(1001);
  });
});
