import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import { rawRequest, rawSocket } from './rawHttp.ts';
import type { Running, StartOptions } from './start.ts';
import { frame } from './webSocketFrame.ts';
import { probe } from './webSocketProbe.ts';

/**
 * Where the gateway does not do what tRPC's own adapters do. The list is closed, with the close codes of
 * `malformedFrames`: each row is asked of both.
 */
export interface Difference {
  readonly name: string;
  /** Why it is so. */
  readonly reason: string;
  readonly options?: StartOptions;
  /** Looks at one of them. */
  readonly look: (running: Running) => Promise<unknown>;
  readonly official: unknown;
  readonly gateway: unknown;
}

const subscribeTo = (path: string, id = 1) =>
  frame(`{"id":${id},"method":"subscription","params":{"path":"${path}"}}`);

async function open(running: Running, target?: string) {
  const opened = await probe(running.server.port, target);
  onTestFinished(() => {
    opened.socket.destroy();
  });
  return opened;
}

export const differences: readonly Difference[] = [
  {
    name: 'OPTIONS',
    reason: 'It is a preflight, which carries no credential: answered as such before the wire.',
    look: async ({ place }) => {
      const response = await place.http.fetch(`${place.http.url}/hello`, { method: 'OPTIONS' });
      await response.text();
      return [response.status, response.headers.get('allow')];
    },
    official: [415, null],
    gateway: [204, 'GET, POST, HEAD, OPTIONS'],
  },
  {
    name: 'a query under way on a WebSocket that is closed: is its signal aborted',
    reason: 'A client that goes away must stop what it asked for; the adapter stops subscriptions alone.',
    look: async (running) => {
      const { socket } = await open(running);
      socket.write(frame('{"id":1,"method":"query","params":{"path":"slow","input":{"ms":400}}}'));
      await vi.waitFor(() => {
        if (running.calls.begun('slow') === 0) throw new Error('not begun');
      });
      socket.destroy();
      await vi.waitFor(() => {
        if (running.calls.count > 0) throw new Error('runs on');
      });
      return running.calls.aborted('slow') > 0;
    },
    official: false,
    gateway: true,
  },
  {
    name: 'an octet stream of which half came: does its procedure end',
    reason: 'The adapter’s body never ends when its client goes away: each such call waits for ever.',
    look: async (running) => {
      const headers = { 'content-type': 'application/octet-stream' };
      const socket = rawSocket(
        running.server.port,
        rawRequest('/trpc/bytes', { method: 'POST', headers, body: 'half', length: 100_000 }),
      );
      await sleep(100);
      socket.destroy();
      await sleep(200);
      return running.calls.count === 0;
    },
    official: false,
    gateway: true,
  },
  {
    name: 'a WebSocket’s client that does not read: is its producer held back',
    reason: 'Without it a client that does not read fills the server’s memory.',
    look: async (running) => {
      const { socket } = await open(running);
      socket.pause();
      socket.write(subscribeTo('floodEvents'));
      await sleep(1000);
      const before = running.calls.pulled;
      await sleep(200);
      const after = running.calls.pulled;
      socket.destroy();
      return before === after;
    },
    official: false,
    gateway: true,
  },
  {
    name: 'an upgrade at a path that is not the base path',
    reason: 'The adapter opens any socket and never answers on it.',
    look: async (running) => (await open(running, '/elsewhere')).received.status,
    official: 101,
    gateway: 404,
  },
];
