import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { call, startLibrary } from './startLibrary.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 8000, interval: 5 });
const waiting = '/trpc?connectionParams=1';
const parameters = { method: 'connectionParams', data: { authorization: 'Bearer good-key' } };

describe('a client of a WebSocket', () => {
  it.each(['/', '//', '\\', 'a b', 'user@name'])('may name any host: %j ends nothing', async (host) => {
    const { listening, dial } = await startLibrary();
    const socket = connect(listening.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `GET ${waiting} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    const client = dial();
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toMatchObject([{ result: { data: 'Ada' } }]));
  });

  it('whose key is still looked up may send a little, which is answered when it is known', async () => {
    const lookup = Promise.withResolvers<void>();
    const { dial } = await startLibrary({}, { checkKey: () => lookup.promise });
    const client = dial(waiting, {});
    client.send(parameters);
    client.send(call(1, 'query', 'caller'));
    client.send(call(2, 'query', 'caller'));
    await sleep(50);
    expect(client.messages).toEqual([]);
    lookup.resolve();
    await until(() => expect(client.messages).toMatchObject([{ id: 1 }, { id: 2 }]));
  });

  it('whose key is still looked up may not send much: 1008, before any of it is read', async () => {
    const { dial } = await startLibrary({}, { checkKey: () => new Promise(() => {}) });
    const client = dial(waiting, {});
    client.send(parameters);
    const batch = [call(1, 'query', 'x'.repeat(30_000))];
    for (let count = 0; count < 3; count += 1) client.send(batch);
    expect(await client.closed).toEqual([1008, 'Too much data was sent before the credential was verified.']);
    expect(client.messages).toEqual([]);
  });

  it('has an address as long as its socket lives, and longer', async () => {
    const seen: string[] = [];
    const { dial, keys } = await startLibrary(
      {},
      {
        checkKey: (request) => seen.push(request.remoteAddress()),
        onContext: (request) => seen.push(request.remoteAddress()),
      },
    );
    const client = dial();
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toHaveLength(1));
    keys.delete('good-key');
    expect((await client.closed)[0]).toBe(1008);
    expect(seen.length).toBeGreaterThan(2);
    expect(new Set(seen)).toEqual(new Set(['127.0.0.1']));
  });

  it('is not held open by one look-up of its key that hangs', async () => {
    let isHanging = false;
    const { dial, keys } = await startLibrary(
      {},
      {
        checkKey: () => {
          if (!isHanging) return undefined;
          isHanging = false;
          return new Promise(() => {});
        },
      },
    );
    const client = dial();
    client.send(call(1, 'subscription', 'ticks'));
    await until(() => expect(client.messages.length).toBeGreaterThan(1));
    isHanging = true;
    keys.delete('good-key');
    expect((await client.closed)[0]).toBe(1008);
  });

  it.each<[failure: Error, code: number]>([
    [new Error('connect ECONNREFUSED mongodb://user:secret@db'), 1011],
    [new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: new Error('secret') }), 1013],
    [new TRPCError({ code: 'FORBIDDEN', message: 'Not here.' }), 1008],
  ])('sees nothing of what a look-up failed with: %s', async (failure, code) => {
    const { dial } = await startLibrary(
      {},
      {
        checkKey: () => {
          throw failure;
        },
      },
    );
    const client = dial(waiting, {});
    client.send(parameters);
    expect((await client.closed)[0]).toBe(code);
    expect(JSON.stringify(client.messages)).not.toContain('secret');
    expect(client.messages).toMatchObject([{ error: {} }]);
  });

  it('ends nothing by an error that an asynchronous onError fails to report', async () => {
    const onError = vi.fn(() => Promise.reject(new Error('the reporter is down')) as unknown as void);
    const { dial, fetch, http } = await startLibrary({}, { onError });
    const client = dial();
    client.send(call(1, 'query', 'broken'));
    await until(() => expect(client.messages).toMatchObject([{ error: {} }]));
    const response = await fetch(`${http}/trpc/broken`, { headers: { authorization: 'Bearer good-key' } });
    expect(response.status).toBe(500);
    expect(onError).toHaveBeenCalledTimes(2);
  });

  it('is counted with its failed calls no more once they are answered', async () => {
    const { dial, listening } = await startLibrary({ maxCallsPerSocket: 20 });
    const client = dial();
    for (let id = 1; id <= 20; id += 1) client.send(call(id, 'query', 'failsLate'));
    await until(() => expect(client.messages).toHaveLength(20));
    expect(listening.inFlight()).toBe(0);
    client.send(call(21, 'query', 'caller'));
    await until(() => expect(client.messages.at(-1)).toMatchObject({ id: 21, result: { data: 'Ada' } }));
    expect(await listening.close({ deadlineMs: 5000 })).toBe(0);
  });

  it('is not looked up any more once its socket is closed', async () => {
    let lookups = 0;
    const { dial, listening } = await startLibrary(
      {},
      {
        checkKey: () => {
          lookups += 1;
        },
      },
    );
    const client = dial();
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toHaveLength(1));
    // While it is open its key is looked up about once a second.
    await until(() => expect(lookups).toBeGreaterThan(1));
    client.socket.terminate();
    await until(() => expect(listening.connections().webSockets).toBe(0));
    const before = lookups;
    await sleep(2500);
    expect(lookups).toBe(before);
  });

  it('that goes on asking does not keep a server from stopping', async () => {
    const { dial, listening } = await startLibrary();
    const client = dial();
    let id = 0;
    const busy = setInterval(() => client.send(call((id += 1), 'query', 'slow', 100)), 20);
    await until(() => expect(client.messages.length).toBeGreaterThan(2));
    const begun = performance.now();
    expect(await listening.close({ deadlineMs: 5000 })).toBe(0);
    clearInterval(busy);
    expect(performance.now() - begun).toBeLessThan(2500);
    expect((await client.closed)[0]).toBe(1001);
    expect(client.messages.at(-1)).toEqual({ id: null, method: 'reconnect' });
  });

  it('may send its credential in a query for a subscription, and for nothing else', async () => {
    const { fetch, http } = await startLibrary();
    const credential = `connectionParams=${encodeURIComponent('{"authorization":"Bearer good-key"}')}`;
    const headers = { accept: 'text/event-stream' };
    const stopping = new AbortController();
    const events = await fetch(`${http}/trpc/ticks?${credential}`, { headers, signal: stopping.signal });
    expect(events.status).toBe(200);
    stopping.abort();
    expect((await fetch(`${http}/trpc/caller?${credential}`, { headers })).status).toBe(401);
  });
});
