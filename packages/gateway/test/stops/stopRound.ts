import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { listen } from '../listen.ts';
import { currentHeaders, currentMeta } from '../mcp/messages.ts';

/** What the clients of one stop observed. */
export interface StopRound {
  /** Number of answered calls by protocol. */
  readonly answered: Readonly<Record<string, number>>;
  /** Calls that ran and whose client has no complete answer: it cannot know whether to repeat them. */
  readonly dropped: readonly string[];
  /** Calls that did not run, and whose connection was closed. */
  readonly refused: readonly string[];
  /** Tools without an end that were ended at the deadline, with a result. */
  readonly cut: number;
}

const clientsPerProtocol = 2;

const t = initTRPC.meta<GatewayMeta>().create();

/** Creates a gateway whose calls add their names to `ran`. */
function createCalls(ran: Set<string>) {
  const Named = z.object({ name: z.string() });
  const base = t.procedure.input(Named).use(({ getRawInput, next }) =>
    getRawInput().then((input) => {
      ran.add(Named.parse(input).name);
      return next();
    }),
  );
  const steps = async function* (name: string, count: number) {
    for (let step = 0; step < count; step += 1) {
      yield { name, step };
      await sleep(10);
    }
  };
  return createGateway({
    router: t.router({
      create: base
        .meta({ openapi: { method: 'POST', path: '/names' }, mcp: { description: 'Creates a name.' } })
        .output(Named)
        .mutation(async ({ input }) => {
          await sleep(Math.random() * 20);
          return input;
        }),
      count: base
        .meta({ mcp: { description: 'Counts to 10.' } })
        .subscription(({ input }) => steps(input.name, 10)),
      endless: base
        .meta({ mcp: { description: 'Counts without an end.' } })
        .subscription(({ input }) => steps(input.name, Infinity)),
    }),
    createContext: () => ({}),
    document: { title: 'Names', version: '1' },
    mcp: mcp(),
    maxQueueMs: 60_000,
    onResponse: () => {},
  });
}

interface SentCall {
  readonly request: string;
  /** Whether a complete response answers the call. */
  readonly isAnswered: (response: string) => boolean;
}

const post = (target: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const text = JSON.stringify(body);
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `POST ${target} HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: ${text.length}\r\n\r\n${text}`;
};

/** A result, or an error with 503, for each of `count` calls. */
const hasResults = (count: number) => (response: string) =>
  response.split(/"result":|"httpStatus":503|"status":503/).length > count;

const isMcpAnswer = (name: string) => (response: string) =>
  response.includes(`"id":"${name}"`) && hasResults(1)(response);

const tool = (procedure: string) => (name: string) => ({
  request: post(
    '/mcp',
    {
      jsonrpc: '2.0',
      id: name,
      method: 'tools/call',
      params: { name: procedure, arguments: { name }, _meta: { ...currentMeta, progressToken: name } },
    },
    { accept: 'application/json, text/event-stream', ...currentHeaders('tools/call', procedure) },
  ),
  isAnswered: isMcpAnswer(name),
});

/** How each protocol over HTTP calls a procedure with a name. */
const protocols: Readonly<Record<string, (name: string) => SentCall>> = {
  REST: (name) => ({
    request: post('/v1/names', { name }),
    isAnswered: (response) => response.endsWith(`{"name":"${name}"}`) || response.includes('"status":503'),
  }),
  'tRPC, single': (name) => ({ request: post('/trpc/create', { name }), isAnswered: hasResults(1) }),
  'tRPC, batch': (name) => ({
    request: post('/trpc/create,create?batch=1', { 0: { name }, 1: { name } }),
    isAnswered: hasResults(2),
  }),
  'tRPC, lines': (name) => ({
    request: post(
      '/trpc/create,create?batch=1',
      { 0: { name }, 1: { name } },
      {
        'trpc-accept': 'application/jsonl',
      },
    ),
    // The data of a call is in a line of its own.
    isAnswered: (response) => response.split(`"name":"${name}"`).length > 2,
  }),
  // A stream may end behind any event, or before the first: its client resumes it.
  'tRPC, events': (name) => ({
    request: `GET /trpc/count?input=${encodeURIComponent(JSON.stringify({ name }))} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`,
    isAnswered: (response) => /\n\r\n0\r\n\r\n$|\r\ncontent-length: 0\r\n/i.test(response),
  }),
  'MCP, mutation': tool('create'),
  'MCP, stream': tool('count'),
  'MCP, endless stream': tool('endless'),
};

/** Returns whether a response is complete, and whether the server closes its connection. */
function parse(text: string): { readonly closes: boolean } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd).toLowerCase();
  const [, length] = /\r\ncontent-length: (\d+)/.exec(head) ?? [];
  const isComplete =
    length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= headEnd + 4 + Number(length);
  return isComplete ? { closes: head.includes('\r\nconnection: close') } : undefined;
}

/** Stops a server while clients call it over every protocol, each in quick succession on one connection. */
export async function stopRound(round: number): Promise<StopRound> {
  const ran = new Set<string>();
  const server = await listen(await createCalls(ran));
  const answered: Record<string, number> = {};
  const dropped: string[] = [];
  const refused: string[] = [];
  let cut = 0;
  let ready = 0;
  const onAnswer = (protocol: string) => (answered[protocol] = (answered[protocol] ?? 0) + 1);
  const onClosed = (name: string) => (ran.has(name) ? dropped : refused).push(name);

  async function callOverHttp(
    protocol: string,
    createCall: (name: string) => SentCall,
    client: number,
  ): Promise<void> {
    const socket = connect(server.port, '127.0.0.1').setEncoding('latin1').setNoDelay();
    let received = '';
    let onData = () => {};
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('data', (text: string) => {
      received += text;
      onData();
    });
    for (let count = 0; !socket.destroyed; count += 1) {
      const name = `${protocol.replace(', ', '-').replace(' ', '-')}-${client}-${count}`;
      const { request, isAnswered } = createCall(name);
      received = '';
      const complete = new Promise<{ readonly closes: boolean }>((resolve) => {
        onData = () => {
          const response = parse(received);
          if (response) resolve(response);
        };
      });
      socket.write(request);
      const isEndless = protocol === 'MCP, endless stream';
      if (isEndless && count === 0) ready += 1;
      const response = await Promise.race([complete, closed]);
      if (response && isAnswered(received)) onAnswer(protocol);
      else if (response) dropped.push(`${name}: ${received}`);
      else onClosed(name);
      if (isEndless && response) cut += 1;
      if (!isEndless && count === 0) ready += 1;
      // It was ended at the deadline, after which no call is accepted.
      if (response?.closes || isEndless) break;
      await Promise.race([sleep(Math.random() * 10), closed]);
    }
    socket.end();
  }

  async function callOverSocket(client: number): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/trpc`);
    const waiting = new Map<number, string>();
    let isStopping = false;
    let count = 0;
    const send = () => {
      count += 1;
      const name = `socket-${client}-${count}`;
      waiting.set(count, name);
      const params = { path: 'create', input: { name } };
      socket.send(JSON.stringify({ id: count, jsonrpc: '2.0', method: 'mutation', params }));
    };
    const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve()));
    socket.addEventListener('open', () => {
      const params = { path: 'endless', input: { name: `socket-${client}` } };
      socket.send(JSON.stringify({ id: 0, jsonrpc: '2.0', method: 'subscription', params }));
      send();
      send();
    });
    socket.addEventListener('message', ({ data }) => {
      const { id, method } = JSON.parse(String(data)) as {
        readonly id: number | null;
        readonly method?: string;
      };
      if (method === 'reconnect') isStopping = true;
      if (typeof id !== 'number' || !waiting.delete(id)) return;
      onAnswer('tRPC, WebSocket');
      if (id === 1) ready += 1;
      setTimeout(() => {
        if (!isStopping && socket.readyState === WebSocket.OPEN) send();
      }, Math.random() * 10);
    });
    await closed;
    for (const name of waiting.values()) onClosed(name);
  }

  const indexes = Array.from({ length: clientsPerProtocol }, (_, index) => index);
  const running = [
    ...Object.entries(protocols).flatMap(([protocol, createCall]) =>
      indexes.map((index) => callOverHttp(protocol, createCall, index)),
    ),
    ...indexes.map((index) => callOverSocket(index)),
  ];
  while (ready < running.length) await sleep(2);
  await sleep((round * 7) % 100);
  await server.close({ graceMs: 200, timeoutMs: 1000 });
  await Promise.all(running);
  return { answered, dropped, refused, cut };
}
