import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, TestRunner } from 'vitest';
import { type Adapter, adapterOfRun } from './adapters.ts';
import { startService } from './startService.ts';
import { firstBytesOf, rawRequest, rawSocket, upgradeRequest } from './wire/rawSocket.ts';
import type { Running } from './trpc/rpcServers.ts';
import { closeCodeOf, frame } from '@petstore/testing/webSocketFrames';

/** A difference between adapters that clients of the gateway can observe. `wire/cases` have those of requests that no HTTP client sends. */
interface AdapterDifference {
  readonly name: string;
  readonly reason: string;
  readonly options?: { readonly maxBodySize?: number };
  /** Resolves with what a client observes. */
  readonly observe: (running: Running) => Promise<unknown>;
  /** The expected result of `observe`, by adapter. An adapter that is missing has no such feature. */
  readonly observed: Readonly<{ uws: unknown } & Partial<Record<Adapter, unknown>>>;
  /** The expected result with tRPC's own adapters, standalone and ws, if they have the feature. */
  readonly official?: unknown;
}

/** Sends raw frames. Resolves with the close code, 1006 without one, or `still open` after 500 ms. */
const closeCodeAfter =
  (...frames: readonly Buffer[]) =>
  async ({ server }: Running) => {
    const socket = rawSocket(server.port, upgradeRequest('/trpc'));
    onTestFinished(() => void socket.destroy());
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 101 /);
    let code = 1006;
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const sent = closeCodeOf(received);
      if (sent === undefined) return;
      code = sent;
      // After a close frame the connection is closed (RFC 6455 §7.1.1).
      socket.end();
    });
    const closed = new Promise((resolve) => socket.on('close', () => resolve(code)));
    socket.write(Buffer.concat(frames));
    return Promise.race([closed, sleep(500, 'still open', { ref: false })]);
  };

/** Sends bytes on a new connection. Resolves with the status of the response; `closed` if there is none. */
async function statusOf(port: number, bytes: string): Promise<number | 'closed'> {
  const [, status] = (await firstBytesOf(port, bytes))?.split(' ') ?? [];
  return status === undefined ? 'closed' : Number(status);
}

const differences = [
  {
    name: 'a Last-Event-ID that begins and ends beyond ASCII',
    reason:
      'uWebSockets.js drops bytes beyond ASCII at the ends of a value. Use ASCII ids for tracked events.',
    observe: async ({ endpoints }) => {
      const response = await endpoints.http.fetch(`${endpoints.http.url}/count?input=%7B%22to%22%3A1%7D`, {
        headers: { 'last-event-id': 'é7é' },
      });
      return /^event: restore-id\ndata: \nid: (.*)$/m.exec(await response.text())?.[1];
    },
    observed: { uws: '7', node: 'é7é', bun: 'é7é', fetch: 'é7é' },
    official: 'é7é',
  },
  {
    name: 'a Content-Type that is sent twice',
    reason: 'The Request of Bun joins the values (RFC 9110 §5.3). The others use the first, as Node does.',
    observe: ({ server }) => {
      const headers = { 'content-type': 'application/json', 'Content-Type': 'text/plain' };
      return statusOf(
        server.port,
        rawRequest('/trpc/write', { method: 'POST', headers, body: '{"name":"Rex"}' }),
      );
    },
    observed: { uws: 200, node: 200, bun: 415 },
    official: 200,
  },
  {
    name: 'the Content-Length of JSON Lines that are complete at once',
    reason: 'The server that sends a Response adds it, as Bun does.',
    observe: async ({ endpoints }) => {
      const response = await endpoints.http.fetch(`${endpoints.http.url}/hello?batch=1`, {
        headers: { 'trpc-accept': 'application/jsonl' },
      });
      const text = await response.text();
      return response.headers.get('content-length') === String(text.length);
    },
    observed: { uws: true, node: true, bun: true, fetch: false },
    official: false,
  },
  {
    name: 'the Content-Length of a HEAD whose GET is a stream',
    reason: 'Bun adds 0 to a response without a body, though the length is unknown (RFC 9110 §8.6).',
    observe: async () => {
      const { send } = await startService();
      return (await send('/v1/drip', { method: 'HEAD' })).headers.get('content-length') ?? 'none';
    },
    observed: { uws: 'none', node: 'none', bun: '0', fetch: 'none' },
  },
  {
    name: 'a connection after a chunked request',
    reason: 'uWebSockets.js would read trailers as the next request.',
    observe: async ({ server }) => {
      const head = rawRequest('/trpc/write', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      }).replace('content-length: 0\r\n', '');
      const response = await firstBytesOf(server.port, `${head}e\r\n{"name":"Rex"}\r\n0\r\n\r\n`);
      return /^connection: (.*)\r$/im.exec(response ?? '')?.[1] ?? 'keep-alive';
    },
    observed: { uws: 'close', node: 'keep-alive', bun: 'keep-alive' },
    official: 'keep-alive',
  },
  {
    name: 'a method that node:http does not know',
    reason: 'The parsers of Node and Bun accept only registered methods in upper case.',
    observe: ({ server }) => statusOf(server.port, rawRequest('/trpc/hello', { method: 'TRACK' })),
    observed: { uws: 405, node: 400, bun: 'closed' },
    official: 400,
  },
  {
    name: 'the record of a request that the parser rejects',
    reason:
      'Node’s parser does not report the method and the path of a request that it rejects, Bun’s reports nothing.',
    observe: async () => {
      const { records, server } = await startService();
      const length = { 'content-length': '5, 5' };
      await statusOf(server.port, rawRequest('/v1/list', { headers: length }));
      return records.map(({ method, path, status }) => [method, path, status]);
    },
    observed: { uws: [['GET', '/v1/list', 400]], node: [['', '', 400]], bun: [] },
  },
  {
    name: 'a WebSocket frame with an invalid opcode, and a malformed close frame',
    reason:
      'uWebSockets.js sends no close frame after the first (RFC 6455 §7.1.7: SHOULD), and an empty one after the second.',
    observe: async (running) => [
      await closeCodeAfter(frame('x', { opcode: 3 }))(running),
      await closeCodeAfter(frame('x', { opcode: 8 }))(running),
    ],
    observed: { uws: [1006, 1005], node: [1002, 1002], bun: [1002, 1002] },
    official: [1002, 1002],
  },
  {
    name: 'a frame without a mask',
    reason: 'uWebSockets.js does not check the mask bit. The garbled frame affects only its sender.',
    observe: closeCodeAfter(frame('{}', { masked: false })),
    observed: { uws: 'still open', node: 1002, bun: 1002 },
    official: 1002,
  },
  {
    name: 'a binary message within a fragmented text',
    reason: 'uWebSockets.js rejects this only if both have the same type. Each message arrives complete.',
    observe: closeCodeAfter(frame('{', { fin: false }), frame('}', { opcode: 2 })),
    observed: { uws: 'still open', node: 1002, bun: 1002 },
    official: 1002,
  },
  {
    name: 'a message that is longer than twice maxBodySize',
    options: { maxBodySize: 32_768 },
    reason: 'uWebSockets.js ends the connection without buffering the message.',
    observe: closeCodeAfter(frame('x'.repeat(65_537))),
    observed: { uws: 1006, node: 1009, bun: 1009 },
    official: 1009,
  },
] as const satisfies readonly AdapterDifference[];

export const adapterDifferences: readonly AdapterDifference[] = differences;

type Name = (typeof differences)[number]['name'];

/** Skips the running test if the adapter of this run differs from uWebSockets.js in this respect. */
export function skipIfDifferent(name: Name): void {
  const adapter = adapterOfRun();
  const observed = adapterDifferences.find((difference) => difference.name === name)?.observed;
  if (isDeepStrictEqual(observed?.[adapter], observed?.uws)) return;
  TestRunner.getCurrentTest()?.context.skip(`Differs on the adapter ${adapter}: ${name}.`);
}
