import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { longForm } from '@petstore/testing/forms';
import { slowness } from '@petstore/testing/slowness';
import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { adapterOfRun } from '../adapters.ts';
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
      // Bun closes idle connections at once, whatever is on its way to them.
      const lost = adapterOfRun() === 'bun' ? dropped : [...dropped, ...refused];
      expect({ round, lost }).toEqual({ round, lost: [] });
      expect(new Set(answered.map((name) => name.split('-')[0])).size).toBe(6);
    }
  },
);
