import { EventEmitter, once } from 'node:events';
import { everyForm, longForm } from '@petstore/testing/forms';
import { measured } from '@petstore/testing/slowness';
import { freePort } from '@petstore/testing/freePort';
import { createTRPCClient, createWSClient, wsLink, type TRPCClient } from '@trpc/client';
import { initTRPC, tracked } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { needs, serve } from '../servers.ts';

const until = (check: () => void) => vi.waitFor(check, { interval: 5 });

/** The events of all topics, as a database has them: they outlive the server. */
class Topics {
  readonly #events = new Map<string, string[]>();
  readonly #published = new EventEmitter().setMaxListeners(0);

  publish(names: readonly string[], event: string): void {
    for (const name of names) this.#events.set(name, [...(this.#events.get(name) ?? []), event]);
    this.#published.emit('event');
  }

  /** Yields the events of a topic after an id, which is the number of events up to it. */
  async *follow(name: string, lastEventId: string | undefined, signal: AbortSignal) {
    for (let next = Number(lastEventId ?? 0); ;) {
      const events = this.#events.get(name) ?? [];
      for (; next < events.length; next += 1) yield tracked(String(next + 1), events[next]);
      await once(this.#published, 'event', { signal });
    }
  }
}

const t = initTRPC.create();

const createRouter = (topics: Topics) => {
  // As a middleware that looks something up does: the subscriptions of a message start at once otherwise.
  const slow = t.procedure.use(async ({ next }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    return next();
  });
  const Topic = z.object({
    name: z.string(),
    lastEventId: z.string().optional(),
    filler: z.string().optional(),
  });
  return t.router({
    topic: slow
      .input(Topic)
      .subscription(({ input, signal = new AbortController().signal }) =>
        topics.follow(input.name, input.lastEventId, signal),
      ),
  });
};

type Router = ReturnType<typeof createRouter>;

/** A gateway that is restarted on its port, and a client of it. */
async function startRestartable() {
  const topics = new Topics();
  const router = createRouter(topics);
  const port = await freePort();
  const start = async () => {
    const gateway = await createGateway({
      router,
      createContext: () => ({}),
      document: { title: 'Topics', version: '1.0.0' },
      onResponse: () => {},
    });
    return serve(gateway, { port });
  };
  let server = await start();
  const client = createWSClient({
    url: `ws://127.0.0.1:${port}/trpc`,
    // The events of the browser's class are the ones that the client uses.
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    retryDelayMs: () => 20,
  });
  onTestFinished(async () => {
    await Promise.all([client.close(), server.close({ timeoutMs: 0 })]);
  });
  const trpc: TRPCClient<Router> = createTRPCClient({ links: [wsLink({ client })] });
  return {
    topics,
    trpc,
    stop: () => server.close({ timeoutMs: 100, graceMs: 10 }),
    restart: async () => {
      server = await start();
    },
  };
}

/** Opens a subscription of each topic, one per tick as an application does. */
async function subscribe(trpc: TRPCClient<Router>, names: readonly string[], filler = '') {
  const received = new Map(names.map((name) => [name, [] as string[]]));
  const errors: string[] = [];
  for (const [index, name] of names.entries()) {
    trpc.topic.subscribe(
      { name, filler },
      {
        onData: ({ data }) => received.get(name)?.push(String(data)),
        onError: ({ data }) => errors.push(String(data?.code)),
      },
    );
    if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return { received, errors };
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `topic ${index}`);

const [count, restarts] = everyForm ? [2000, 3] : [300, 2];

it(`${count} tracked subscriptions of one wsLink resume after each of ${restarts} restarts, and receive each event once`, async () => {
  needs('WebSockets');
  const { restart, stop, topics, trpc } = await startRestartable();
  const names = namesOf(count);
  const { received, errors } = await subscribe(trpc, names, 'x'.repeat(200));
  const expected: string[] = [];
  const publish = (event: string) => {
    expected.push(event);
    topics.publish(names, event);
  };
  const allReceived = () =>
    until(() => {
      const behind = names.filter((name) => received.get(name)?.length !== expected.length);
      expect([behind.length, errors]).toEqual([0, []]);
    });
  publish('first');
  await allReceived();
  const figures: number[] = [];
  for (let restarted = 1; restarted <= restarts; restarted += 1) {
    await stop();
    publish(`while the server is down ${restarted}`);
    await restart();
    const begun = performance.now();
    await allReceived();
    figures.push(Math.round(performance.now() - begun));
    publish(`after restart ${restarted}`);
    await allReceived();
  }
  for (const name of names) expect(received.get(name)).toEqual(expected);
  process.stdout.write(
    `${count} subscriptions were back ${figures.join(', ')} ms after the server listened again.\n`,
  );
  expect(measured(Math.max(...figures))).toBeLessThan(longForm ? 2000 : 10_000);
});
