import { EventEmitter } from 'node:events';
import { initTRPC, TRPCError } from '@trpc/server';
import { getWSConnectionHandler, type WSSHandlerOptions } from '@trpc/server/adapters/ws';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGateway } from '../../gateway.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { procedureDefinitions } from '../../procedures/procedures.ts';
import { createSocketMessages } from './socketMessage.ts';
import {
  bytesOf,
  hasSubscription,
  isBatch,
  maxBatchSize,
  routerOf,
  socketPlan,
  type Served,
  type SocketPlan,
} from './testing/randomMessages.ts';

/** One end of a WebSocket in the process: what it is sent goes to its owner, and what that says is kept. */
interface End {
  message(data: Buffer, isBinary: boolean): void;
  close(): void;
}
type Connect = (served: Served, plan: SocketPlan, told: unknown[]) => Promise<End>;

interface Failure {
  readonly error: TRPCError;
  readonly path: string | undefined;
  readonly type: string;
  readonly input: unknown;
  readonly ctx: unknown;
}

/** Tells of errors, and fails at some itself. */
const onErrorOf =
  (told: unknown[]) =>
  ({ error: { code, message }, path, type, input, ctx }: Failure): void => {
    told.push(['onError', { code, message, path, type, input, ctx }]);
    if (code === 'FORBIDDEN') throw new Error('onError failed');
  };

/** tRPC's own adapter (`applyWSSHandler` is this for each socket of the package ws). */
const official: Connect = async ({ router }, { context }, told) => {
  const client = Object.assign(new EventEmitter(), {
    readyState: 1,
    send: (text: string) => told.push(text),
    close() {},
    terminate() {},
  });
  const serve = getWSConnectionHandler({
    router,
    maxBatchSize,
    createContext: () => context,
    onError: onErrorOf(told),
  } as unknown as WSSHandlerOptions<typeof router>);
  serve(client as never, { url: '/trpc', headers: {}, socket: {} } as never);
  return {
    message: (data, isBinary) => client.emit('message', data, isBinary),
    close() {
      client.readyState = 3;
      client.emit('close');
    },
  };
};

const request: HttpRequest = {
  method: 'GET',
  path: '/trpc',
  query: '',
  header: (name) => (name === 'sec-websocket-version' ? '13' : undefined),
  headers: () => [],
  remoteAddress: () => '127.0.0.1',
  isAborted: false,
  signal: new AbortController().signal,
  body: async () => new Uint8Array(),
  bodyChunks: async function* () {},
};

const gateway: Connect = async ({ router }, { context }, told) => {
  const { upgrade } = await createGateway({
    router,
    createContext: () => context,
    rpc: { maxBatchSize, onError: onErrorOf(told) },
    document: { title: 'Test', version: '0.0.0' },
  });
  const accept = (await upgrade(request)) as SocketAcceptor;
  const handler = accept({
    bufferedBytes: 0,
    send: (message) => told.push(message),
    close() {},
    terminate() {},
  });
  return {
    message: (data, isBinary) => handler.message(data, isBinary),
    close: () => void handler.closed(),
  };
};

/** Until all microtasks have run: as between two messages of one packet. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 300; count += 1) await Promise.resolve();
}

async function quiet(): Promise<void> {
  for (let count = 0; count < 40; count += 1) await new Promise(setImmediate);
}

/** How many messages were there, how many of them can be read as plain, and how many were answered at once. */
interface Tally {
  messages: number;
  plain: number;
  atOnce: number;
}

/** What is answered, told and done for each message, until the next; what may come in any order, by id. */
async function transcript(
  connect: Connect,
  plan: SocketPlan,
  served: Served,
  tally?: Tally,
): Promise<unknown> {
  const { router, chains } = served;
  const told: unknown[] = [];
  const end = await connect(served, plan, told);
  await quiet();
  const readPlain = createSocketMessages(router, await procedureDefinitions(router), maxBatchSize);
  const parts: unknown[] = [];
  const cut = (isOrdered: boolean) => {
    const part = [...told.splice(0), ...chains.map(({ log }) => log.splice(0).flatMap(comparable))];
    parts.push(structuredClone(isOrdered ? part : part.map((one) => JSON.stringify(one)).toSorted()));
  };
  for (const { message, pause } of plan.steps) {
    const data = bytesOf(message, router, plan.hasTransformer);
    const isBinary = message.kind === 'text' && message.isBinary;
    const isPlain = !isBinary && readPlain(data.toString()) !== undefined;
    // tRPC's handler is kept: it is given the calls of the gateway, which take other turns than its own.
    const isUnordered = hasSubscription(message) || (!isPlain && isBatch(message));
    if (isUnordered) {
      await quiet();
      cut(true);
    }
    const before = told.length;
    end.message(data, isBinary);
    if (tally) {
      tally.messages += 1;
      if (isPlain) {
        tally.plain += 1;
        if (told.length > before) tally.atOnce += 1;
      }
    }
    await microtasks();
    if (pause === 'turn') await new Promise(setImmediate);
    if (pause === 'quiet' || isUnordered) await quiet();
    if (isUnordered) cut(false);
  }
  await quiet();
  end.close();
  await quiet();
  cut(true);
  return parts;
}

/**
 * What a chain has done. tRPC's adapter shows middlewares the router, which no type tells them of; and a refinement that
 * is asynchronous is asked once in vain by each way that a procedure is called.
 */
function comparable(entry: unknown): readonly unknown[] {
  if (entry === 'refined') return [];
  return [JSON.parse((JSON.stringify(entry) ?? 'null').replace('"router",', '').replace(',"router"', ''))];
}

test('what is sent before the context is there begins in the order it was sent', async () => {
  const t = initTRPC.create();
  const begun: string[] = [];
  const router = t.router({
    watch: t.procedure.subscription(async () => {
      begun.push('watch');
      return (async function* () {})();
    }),
    add: t.procedure.mutation(() => begun.push('add')),
  });
  const { upgrade } = await createGateway({
    router,
    createContext: async () => ({}),
    document: { title: 'Test', version: '0.0.0' },
  });
  const accept = (await upgrade(request)) as SocketAcceptor;
  const handler = accept({ bufferedBytes: 0, send() {}, close() {}, terminate() {} });
  const say = (id: number, method: string, path: string) =>
    handler.message(Buffer.from(JSON.stringify({ id, method, params: { path } })), false);
  say(1, 'mutation', 'add');
  say(2, 'subscription', 'watch');
  say(3, 'mutation', 'add');
  await quiet();
  expect(begun).toEqual(['add', 'watch', 'add']);
});

/** What is answered and told where all messages come before the context fails. */
async function withoutContext(connect: Connect, plan: SocketPlan): Promise<readonly unknown[]> {
  const served = routerOf(plan);
  const making = Promise.withResolvers<never>();
  const told: unknown[] = [];
  const end = await connect(served, { ...plan, context: making.promise }, told);
  for (const { message } of plan.steps) {
    // It is answered at once, before messages that wait and are malformed: tRPC's adapter answers those at once too.
    if (message.kind === 'text' && message.text === 'PING') continue;
    const isBinary = message.kind === 'text' && message.isBinary;
    end.message(bytesOf(message, served.router, plan.hasTransformer), isBinary);
  }
  making.reject(new TRPCError({ code: 'UNAUTHORIZED', message: 'Not you.' }));
  await quiet();
  end.close();
  // Each time it is told of, the error is the same; and a call runs on neither.
  return structuredClone([told, served.chains.map(({ log }) => log.length)]);
}

test('of 200 clients whose context fails, each call is answered with the error and told of as by tRPC’s own adapter', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(socketPlan, async (plan) => {
      const expected = await withoutContext(official, plan);
      answered += JSON.stringify(expected).split('\\"id\\":1').length - 1;
      expect(await withoutContext(gateway, plan)).toEqual(expected);
    }),
    { numRuns: 200 },
  );
  expect(answered).toBeGreaterThan(20);
}, 60_000);

const runs = 1000;

test(`of ${runs} clients that send messages at random, every one is answered on a WebSocket as by tRPC's own adapter`, async () => {
  const tally: Tally = { messages: 0, plain: 0, atOnce: 0 };
  await fc.assert(
    fc.asyncProperty(socketPlan, async (plan) => {
      const expected = await transcript(official, plan, routerOf(plan));
      expect(await transcript(gateway, plan, routerOf(plan), tally)).toEqual(expected);
    }),
    { numRuns: runs },
  );
  process.stdout.write(
    `Messages: ${tally.plain} plain of ${tally.messages}, ${tally.atOnce} of them answered at once.\n`,
  );
  expect(tally.plain).toBeGreaterThan(0.4 * tally.messages);
  expect(tally.atOnce).toBeGreaterThan(0.4 * tally.plain);
}, 120_000);
