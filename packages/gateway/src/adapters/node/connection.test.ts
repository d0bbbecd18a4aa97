import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Connection, type ServedRequest } from './connection.ts';

/** Checks a connection that may idle for 65 s up to 100 times. @returns which check closed it, or Infinity */
function checkUntilClosed(update: Update, requests: readonly ServedRequest[] = []): number {
  const socket: Counters = { bytesRead: 0, bytesWritten: 0, writableLength: 0, isDestroyed: false };
  const connection = new Connection(
    Object.assign(socket, { destroy: () => (socket.isDestroyed = true) }) as unknown as Socket,
    65_000,
  );
  connection.requests.push(...requests);
  for (let at = 1; at <= 100; at += 1) {
    update(socket, at);
    connection.check();
    if (socket.isDestroyed) return at;
  }
  return Infinity;
}

const request = (isReceived: boolean) => ({ isReceived }) as ServedRequest;

type Update = (socket: Counters, at: number) => void;

interface Counters {
  bytesRead: number;
  bytesWritten: number;
  writableLength: number;
  isDestroyed: boolean;
}

it.each<[what: string, seconds: number, update: Update, requests?: ServedRequest[]]>([
  ['that has never sent a request', 11, () => {}],
  ['whose client stalls in its first head', 16, (socket, at) => (socket.bytesRead = Math.min(at, 5))],
  [
    'whose client sends nothing after a response',
    70,
    (socket, at) => (socket.bytesWritten = Math.min(at, 5)),
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
  ['whose request has stalled', 11, () => {}, [request(false)]],
  ['whose later request has stalled', 12, (socket) => (socket.bytesWritten = 100), [request(false)]],
  ['whose request is handled', Infinity, () => {}, [request(true)]],
  [
    'with an unread response',
    11,
    (socket) => Object.assign(socket, { bytesWritten: 100, writableLength: 100 }),
    [request(true)],
  ],
])('a connection %s is closed after %s s', (_what, seconds, update, requests) => {
  expect(checkUntilClosed(update, requests)).toBe(seconds);
});
