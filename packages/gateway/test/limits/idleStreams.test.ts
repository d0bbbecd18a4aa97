import { collectGarbage } from '@petstore/testing/collectGarbage';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { getUntypedClient } from '@trpc/client';
import { initTRPC, tracked } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { requestOf } from '@petstore/testing/mcpMessages';
import { type Shape, startShape } from '../startShape.ts';

const until = (check: () => void) => vi.waitFor(check);

const t = initTRPC.meta<GatewayMeta>().create();

/** Number of events that each subscription yields before it stays idle. */
const eventCount = 8;

type Clients = Pick<Shape, 'origin' | 'server' | 'socketTrpc'>;

/** Serves idle subscriptions, and returns weak references to the events that they have yielded. */
async function startIdle() {
  const events: WeakRef<object>[] = [];
  // A function of its own, so that no variable of the generator holds the event.
  function create() {
    const event = { text: `event ${events.length}` };
    events.push(new WeakRef(event));
    return event;
  }
  const hasMore = () => events.length < eventCount;
  const about = (path: `/${string}`): GatewayMeta => ({
    openapi: { method: 'GET', path, event: z.looseObject({}) },
    mcp: { description: 'Waits after its events.' },
  });
  const idle = () => new Promise<never>(() => {});
  const router = t.router({
    plain: t.procedure.meta(about('/plain')).subscription(async function* () {
      while (hasMore()) yield create();
      await idle();
    }),
    tracked: t.procedure.meta(about('/tracked')).subscription(async function* () {
      while (hasMore()) yield tracked(String(events.length), create());
      await idle();
    }),
    pushed: t.procedure.meta(about('/pushed')).subscription(() =>
      observable<object>((observer) => {
        const timer = setInterval(() => {
          if (hasMore()) observer.next(create());
          else clearInterval(timer);
        }, 1);
        return () => clearInterval(timer);
      }),
    ),
    /** A stream in the output of a query. */
    lines: t.procedure.query(async function* () {
      while (hasMore()) yield create();
      await idle();
    }),
  });
  const shape: Clients = await startShape(router, { mcp: mcp() });
  /** The indexes of the events that are still in memory. */
  const kept = () => {
    collectGarbage();
    return events.flatMap((event, index) => (event.deref() ? [index] : []));
  };
  return { kept, shape };
}

/** Reads a response until it contains a text. Its rest is cancelled after the test. */
async function readUntil(response: Response, text: string): Promise<void> {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  onTestFinished(() => void reader.cancel().catch(() => {}));
  const decoder = new TextDecoder();
  let received = '';
  while (!received.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The response ended with: ${received}`);
    received += decoder.decode(value, { stream: true });
  }
}

const lastEvent = `event ${eventCount - 1}`;

/** Subscribes and resolves when the client has received the last event. */
type Subscribe = (shape: Clients, name: string) => Promise<void>;

const getEvents =
  (pathOf: (name: string) => string, headers: Readonly<Record<string, string>>): Subscribe =>
  async ({ origin, server }, name) =>
    readUntil(await server.fetch(`${origin}${pathOf(name)}`, { headers }), lastEvent);

const subscribes: Readonly<Record<string, Subscribe>> = {
  'tRPC’s server-sent events': getEvents((name) => `/trpc/${name}`, { accept: 'text/event-stream' }),
  'REST’s server-sent events': getEvents((name) => `/v1/${name}`, { accept: 'text/event-stream' }),
  async 'a WebSocket'({ socketTrpc }, name) {
    let received = '';
    getUntypedClient(socketTrpc()).subscription(name, undefined, {
      onData: (event) => void (received += JSON.stringify(event)),
    });
    await until(() => expect(received).toContain(lastEvent));
  },
  // Keeps a copy of the last event, which becomes the result.
  async MCP({ origin, server }, name) {
    const request = requestOf('tools/call', { name, arguments: {} }, { meta: { progressToken: 1 } });
    await readUntil(await server.fetch(`${origin}/mcp`, request), lastEvent);
  },
};

// As tRPC's own test "should free data after each iteration (#6156)".
it.each(
  Object.keys(subscribes).flatMap((protocol) =>
    ['plain', 'tracked', 'pushed'].map((name) => [protocol, name] as const),
  ),
)('an idle subscription over %s keeps no event in memory: %s', async (protocol, name) => {
  const { kept, shape } = await startIdle();
  await subscribes[protocol]?.(shape, name);
  await until(() => expect(kept()).toEqual([]));
});

it('an idle stream in the output of a query over JSON lines keeps no value in memory', async () => {
  const { kept, shape } = await startIdle();
  const path = '/trpc/lines?batch=1&input={}';
  await getEvents(() => path, { 'trpc-accept': 'application/jsonl' })(shape, 'lines');
  await until(() => expect(kept()).toEqual([]));
});
