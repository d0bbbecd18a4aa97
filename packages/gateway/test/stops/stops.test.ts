import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { longForm } from '@petstore/testing/forms';
import { slowness } from '@petstore/testing/slowness';
import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listen, type Server } from '../listen.ts';
import { requestOf } from '@petstore/testing/mcpMessages';
import { needs } from '../servers.ts';
import { callMessage, openSocket } from '../socketClient.ts';

// Streams and subscriptions of a server that stops are tested in `sockets/stopping` and `mcp/stopping`.

const t = initTRPC.meta<GatewayMeta>().create();
const Named = z.object({ name: z.string() });

/** Creates a gateway whose calls add their names to `ran`. */
const createNames = (ran: Set<string>) =>
  createGateway({
    router: t.router({
      create: t.procedure
        .meta({ openapi: { method: 'POST', path: '/names' }, mcp: { description: 'Creates a name.' } })
        .input(Named)
        .output(Named)
        .mutation(async ({ input }) => {
          ran.add(input.name);
          await sleep(Math.random() * 20);
          return input;
        }),
    }),
    createContext: () => ({}),
    document: { title: 'Names', version: '1' },
    mcp: mcp(),
    maxQueueMs: 60_000,
  });

interface SentCall {
  readonly target: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const batch = (name: string, headers: Readonly<Record<string, string>> = {}): SentCall => ({
  target: '/trpc/create,create?batch=1',
  body: JSON.stringify({ 0: { name }, 1: { name } }),
  headers,
});

/** How each protocol over HTTP calls the mutation with a name. */
const protocols = {
  REST: (name) => ({ target: '/v1/names', body: JSON.stringify({ name }) }),
  single: (name) => ({ target: '/trpc/create', body: JSON.stringify({ name }) }),
  batch: (name) => batch(name),
  lines: (name) => batch(name, { 'trpc-accept': 'application/jsonl' }),
  tool: (name) => ({
    target: '/mcp',
    ...requestOf('tools/call', { name: 'create', arguments: { name } }, { id: name }),
  }),
} satisfies Readonly<Record<string, (name: string) => SentCall>>;

type Protocol = keyof typeof protocols;

/** What the clients of a stop observed, as the names of their calls. */
class Observed {
  readonly ran = new Set<string>();
  readonly answered: string[] = [];
  /** Calls that ran and have no whole answer: their client cannot know whether to repeat them. */
  readonly dropped: string[] = [];
  /** Calls that did not run, and whose connection was closed. */
  readonly refused: string[] = [];

  add(name: string, isAnswered: boolean): void {
    if (isAnswered) this.answered.push(name);
    else (this.ran.has(name) ? this.dropped : this.refused).push(name);
  }
}

/** Calls in quick succession on one connection, until it is closed. `fetch` would send a call again. */
async function callOverHttp(port: number, observed: Observed, protocol: Protocol, onReady: () => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let socket: Socket | undefined;
  for (let count = 0, isOpen = true; isOpen && socket?.destroyed !== true; count += 1) {
    const name = `${protocol}-${count}`;
    const { body, headers = {}, target }: SentCall = protocols[protocol](name);
    const sent = httpRequest({ agent, host: '127.0.0.1', port, method: 'POST', path: target });
    for (const [header, value] of Object.entries(headers)) sent.setHeader(header, value);
    sent.setHeader('content-type', 'application/json').end(body);
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      ({ socket } = response);
      const received = await text(response);
      // Each call of a batch has its result, or one error is that of all.
      const calls = target.includes('batch=1') && response.statusCode !== 503 ? 2 : 1;
      observed.add(name, received.split(name).length > calls || received.includes('SERVICE_UNAVAILABLE'));
      isOpen = response.headers.connection !== 'close';
    } catch {
      observed.add(name, false);
      isOpen = false;
    }
    onReady();
    await sleep(Math.random() * 10);
  }
  agent.destroy();
}

/** Calls on one WebSocket until it receives the request to reconnect. */
async function callOverSocket(server: Server, observed: Observed, onReady: () => void) {
  const { closed, send, socket } = openSocket(server);
  const waiting = new Set<number>();
  let isStopping = false;
  const call = (id: number) => {
    waiting.add(id);
    send(callMessage(id, 'mutation', 'create', { name: `socket-${id}` }));
  };
  socket.on('message', (data: Buffer) => {
    const { id, method } = JSON.parse(data.toString()) as { id: number | null; method?: string };
    if (method === 'reconnect') isStopping = true;
    if (id === null || !waiting.delete(id)) return;
    observed.add(`socket-${id}`, true);
    onReady();
    setTimeout(() => {
      if (!isStopping && socket.readyState === socket.OPEN) call(id + 2);
    }, Math.random() * 10);
  });
  [1, 2].forEach(call);
  await closed;
  for (const id of waiting) observed.add(`socket-${id}`, false);
}

/** Stops a server while clients call it over every protocol. */
async function stopUnderLoad(round: number): Promise<Observed> {
  const observed = new Observed();
  const server = await listen(await createNames(observed.ran));
  const { port } = server;
  const running = [...(Object.keys(protocols) as Protocol[]), 'socket' as const].map(async (protocol) => {
    const ready = Promise.withResolvers<void>();
    const ended =
      protocol === 'socket'
        ? callOverSocket(server, observed, ready.resolve)
        : callOverHttp(port, observed, protocol, ready.resolve);
    await ready.promise;
    return { ended };
  });
  const clients = await Promise.all(running);
  await sleep((round * 7) % 100);
  await server.close({ graceMs: 200, timeoutMs: 10_000 });
  await Promise.all(clients.map(({ ended }) => ended));
  return observed;
}

// The long form: `npm run test:stops -w trpc-gateway-test`.
const rounds = longForm ? 200 : 3;

it(
  `each call over every protocol is answered or does not run, in ${rounds} stops under load`,
  { timeout: rounds * 30_000 * slowness },
  async () => {
    needs('a port');
    for (let round = 0; round < rounds; round += 1) {
      const { answered, dropped, refused } = await stopUnderLoad(round);
      expect({ round, dropped, refused }).toEqual({ round, dropped: [], refused: [] });
      expect(new Set(answered.map((name) => name.split('-')[0])).size).toBe(6);
    }
  },
);

/** What the clients of a thread have done: `kept` a connection, or `sent` all requests; `send` begins that. */
const steps = { kept: 1, send: 2, sent: 3 } as const;

/** Clients on a thread: the first request is on a connection that had another, the others are on new ones. Posts what each received. */
const clients = `
  const { once } = require('node:events');
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, requests, step, steps } } = require('node:worker_threads');
  const reach = (next) => Atomics.notify(step, 0, Atomics.store(step, 0, next));
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const send = (socket, request) => {
    let text = '';
    socket.on('data', (data) => (text += data));
    socket.on('error', ({ code }) => (text += code));
    socket.on('close', () => parentPort.postMessage(text));
    return new Promise((resolve) => socket.write(request, resolve));
  };
  open().then(async (kept) => {
    kept.write(requests[0]);
    await once(kept, 'data');
    reach(steps.kept);
    while (Atomics.load(step, 0) !== steps.send) await new Promise(setImmediate);
    await Promise.all(requests.map(async (request, at) => send(at === 0 ? kept : await open(), request)));
    reach(steps.sent);
  });
`;

it('each call is answered that was sent before the stop, also on connections that no process had accepted', async () => {
  needs('a port');
  const server = await listen(await createNames(new Set()));
  const calls = Array.from({ length: 20 }, (_, at) =>
    Object.values(protocols).map((create) => create(`${at}`)),
  );
  const requests = calls.flat().map(({ body, headers, target }: SentCall) => {
    const all = { host: 'x', 'content-type': 'application/json', 'content-length': body.length, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
  });
  const step = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(clients, {
    eval: true,
    workerData: { port: server.port, requests, step, steps },
  });
  onTestFinished(() => void thread.terminate());
  const received: string[] = [];
  thread.on('message', (response: string) => received.push(response));
  await expect.poll(() => Atomics.load(step, 0)).toBe(steps.kept);
  Atomics.store(step, 0, steps.send);
  // This thread accepts and reads nothing in the meantime.
  expect(Atomics.wait(step, 0, steps.send, 60_000)).not.toBe('timed-out');
  await server.close({ graceMs: 200 });
  await expect.poll(() => received).toHaveLength(requests.length);
  for (const response of received) {
    expect(response).toMatch(/^HTTP\/1.1 20[01] .*connection: close\r\n/is);
    expect(response).not.toMatch(/E[A-Z]+$/);
  }
});
