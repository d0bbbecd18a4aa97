import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Connection } from './connection.ts';
import type { ServedRequest } from './servedRequest.ts';

/**
 * A connection after checks, a second apart, before each of which something happens. @returns how many were survived
 */
function checks(
  happens: (socket: Counters, at: number) => void,
  requests: readonly ServedRequest[] = [],
): number {
  const socket: Counters = { bytesRead: 0, bytesWritten: 0, writableLength: 0, isDestroyed: false };
  const connection = new Connection(
    Object.assign(socket, { destroy: () => (socket.isDestroyed = true) }) as unknown as Socket,
  );
  for (const request of requests) connection.requests.add(request);
  for (let at = 1; at <= 100; at += 1) {
    happens(socket, at);
    connection.check();
    if (socket.isDestroyed) return at;
  }
  return Infinity;
}

const request = (isReceived: boolean) => ({ isReceived }) as ServedRequest;

interface Counters {
  bytesRead: number;
  bytesWritten: number;
  writableLength: number;
  isDestroyed: boolean;
}

describe('a connection is ended by its checks', () => {
  it.each<[what: string, ended: number, happens: (socket: Counters, at: number) => void]>([
    ['on which nothing happens', 11, () => {}],
    [
      'whose client sends nothing after its last request',
      16,
      (socket, at) => (socket.bytesRead = Math.min(at, 5)),
    ],
    ['whose client sends', Infinity, (socket) => (socket.bytesRead += 1)],
    ['whose client reads', Infinity, (socket) => (socket.bytesWritten += 1)],
    [
      'whose client does not read what is written',
      11,
      (socket, at) => {
        socket.bytesWritten = at === 1 ? 0 : 100;
        socket.writableLength = at === 1 ? 0 : 100;
      },
    ],
  ])('%s, after %s s', (_what, ended, happens) => {
    expect(checks(happens)).toBe(ended);
  });

  it('while its request stalls', () => {
    expect(checks(() => {}, [request(false)])).toBe(11);
  });

  it('but not while its request is handled', () => {
    expect(checks(() => {}, [request(true)])).toBe(Infinity);
  });

  it('while its response is not read', () => {
    const unread = (socket: Counters) => Object.assign(socket, { bytesWritten: 100, writableLength: 100 });
    expect(checks(unread, [request(true)])).toBe(11);
  });
});
