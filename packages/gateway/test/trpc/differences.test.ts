import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { frame } from '@petstore/testing/webSocketFrames';
import { probe } from '../sockets/probe.ts';
import { rawRequest, rawSocket } from '../wire/rawSocket.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type Running, type StartOptions } from './start.ts';

/** One server's side of a difference. */
interface Behavior {
  /** The title of its test. */
  readonly title: string;
  /** The expected result of `observe`. */
  readonly result: unknown;
}

/**
 * A known difference between the gateway and tRPC's own adapters, tested on both. `adapterDifferences` has the close codes, and
 * docs/gateway/trpc.md also lists headers and options that these tests do not use.
 */
interface Difference {
  /** Why the gateway differs. */
  readonly reason: string;
  readonly options?: StartOptions;
  /** Returns what the running server does. */
  readonly observe: (running: Running) => Promise<unknown>;
  readonly official: Behavior;
  readonly gateway: Behavior;
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

const differences: readonly Difference[] = [
  {
    reason:
      'OPTIONS is a CORS preflight without credentials, so the gateway answers it before authentication.',
    observe: async ({ endpoints }) => {
      const response = await endpoints.http.fetch(`${endpoints.http.url}/hello`, { method: 'OPTIONS' });
      await response.text();
      return [response.status, response.headers.get('allow')];
    },
    official: { title: 'tRPC’s adapter answers OPTIONS with 415', result: [415, null] },
    gateway: {
      title: 'the gateway answers OPTIONS with 204 and Allow',
      result: [204, 'GET, POST, HEAD, OPTIONS'],
    },
  },
  {
    reason: 'A client that disconnects must stop its calls; tRPC’s adapter stops subscriptions only.',
    observe: async (running) => {
      const { socket } = await open(running);
      socket.write(frame('{"id":1,"method":"query","params":{"path":"slow","input":{"ms":400}}}'));
      await vi.waitFor(() => {
        if (running.calls.started('slow') === 0) throw new Error('The query has not started.');
      });
      socket.destroy();
      await vi.waitFor(() => {
        if (running.calls.count > 0) throw new Error('The query is still running.');
      });
      return running.calls.aborted('slow') > 0;
    },
    official: { title: 'tRPC’s adapter lets a query run on after its WebSocket closes', result: false },
    gateway: { title: 'the gateway aborts a query when its WebSocket closes', result: true },
  },
  {
    reason: 'The body of tRPC’s adapter never ends when its client disconnects, so the call waits forever.',
    observe: async (running) => {
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
    official: {
      title: 'tRPC’s adapter never ends a call that reads an octet stream after its client disconnects',
      result: false,
    },
    gateway: {
      title: 'the gateway ends a call that reads an octet stream when its client disconnects',
      result: true,
    },
  },
  {
    reason: 'Without backpressure a client that does not read fills the server’s memory.',
    observe: async (running) => {
      const { socket } = await open(running);
      socket.pause();
      socket.write(subscribeTo('floodEvents'));
      let isPaused = false;
      for (let look = 0; !isPaused && look < 15; look += 1) {
        const before = running.calls.pulled;
        await sleep(200);
        isPaused = before > 0 && running.calls.pulled === before;
      }
      // Without backpressure the socket would be closed, which ends the call.
      const { count } = running.calls;
      socket.destroy();
      return isPaused && count === 1;
    },
    official: {
      title: 'tRPC’s adapter applies no backpressure to the subscriptions of a WebSocket',
      result: false,
    },
    gateway: {
      title: 'the gateway pauses the subscriptions of a WebSocket while its client does not read',
      result: true,
    },
  },
  {
    reason: 'tRPC’s adapter accepts an upgrade at any path and never answers on that WebSocket.',
    observe: async (running) => (await open(running, '/elsewhere')).received.status,
    official: { title: 'tRPC’s adapter accepts a WebSocket upgrade outside the base path', result: 101 },
    gateway: {
      title: 'the gateway answers a WebSocket upgrade outside the base path with 404',
      result: 404,
    },
  },
];

describe.each([
  ['official', startWith(serveOfficial)],
  ['gateway', startWith(serveGateway)],
] as const)('behavior that differs: %s', (subject, start) => {
  it.each(
    differences.map(({ [subject]: behavior, options, observe }) => ({
      options,
      observe,
      title: behavior.title,
      result: behavior.result,
    })),
  )('$title', async ({ options, observe, result }) => {
    expect(await observe(await start(options))).toEqual(result);
  });
});
