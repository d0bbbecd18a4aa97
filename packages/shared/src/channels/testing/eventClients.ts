import { createTRPCClient, createWSClient, httpSubscriptionLink, type TRPCLink, wsLink } from '@trpc/client';
import { initTRPC, tracked } from '@trpc/server';
import { EventSource } from 'eventsource';
import { createGateway } from 'trpc-gateway';
import { type GatewayMeta, resyncErrors } from 'trpc-gateway/procedures';
import { mcp } from 'trpc-gateway/mcp';
import { serve } from 'trpc-gateway/node';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { eventChannel } from '../eventChannel.ts';
import type { EventLog, LogItem, Retention } from '../../events/eventLog.ts';
import { keepAll } from '../../events/testing/collect.ts';

const Item = z.object({ id: z.string(), event: z.string() });
const t = initTRPC.meta<GatewayMeta>().create({ sse: { ping: { enabled: true, intervalMs: 5000 } } });

/** Serves the channels of a log until the test ends. `limit` is for agents, which get the last event only. */
export async function serveEvents(log: EventLog, keep: Partial<Retention> = keepAll) {
  const channel = eventChannel({ log, name: 'events', event: z.string(), keep });
  const router = t.router({
    changes: t.procedure
      .meta({
        openapi: { method: 'GET', path: '/changes', event: Item },
        mcp: { description: 'Waits for the next events.' },
      })
      .input(z.object({ key: z.string(), lastEventId: z.string().optional(), limit: z.int().optional() }))
      .errors(resyncErrors)
      .subscription(async function* ({ input: { key, lastEventId, limit = Infinity }, signal }) {
        let left = limit;
        for await (const [id, event] of await channel.subscribe(key, { lastEventId, signal })) {
          yield tracked(id, { id, event });
          left -= 1;
          if (left === 0) return;
        }
      }),
  });
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Events', version: '1.0.0' },
    mcp: mcp(),
    onResponse: () => {},
  });
  const { close, port } = await serve(gateway, { port: 0 });
  onTestFinished(async () => void (await close({ graceMs: 0 })));
  return { channel, router, origin: `http://127.0.0.1:${port}` };
}

type EventsRouter = Awaited<ReturnType<typeof serveEvents>>['router'];

interface Connection {
  readonly origin: string;
  readonly input: { readonly key: string; readonly lastEventId: string | undefined };
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  readonly onItem: (item: LogItem) => void;
}

/** Connects as the documentation says. Resolves when the client has left, or has to connect again by itself. */
type Connect = (connection: Connection) => Promise<void>;

const connectTrpc =
  (
    open: (origin: string) => { readonly link: TRPCLink<EventsRouter>; readonly close?: () => unknown },
  ): Connect =>
  async ({ input, onItem, origin, signal }) => {
    const { close, link } = open(origin);
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve());
    const subscription = createTRPCClient<EventsRouter>({ links: [link] }).changes.subscribe(input, {
      onData: ({ data }) => onItem({ type: 'event', ...data }),
      onError({ data }) {
        if (data?.code === 'RESYNC') onItem({ type: 'resync', id: data.data.lastEventId });
        resolve();
      },
    });
    await promise;
    subscription.unsubscribe();
    close?.();
  };

export const eventClients: Readonly<Record<string, Connect>> = {
  async EventSource({ input: { key, lastEventId = '' }, onItem, origin, signal }) {
    const query = new URLSearchParams({ key, lastEventId }).toString();
    const source = new EventSource(`${origin}/v1/changes?${query}`);
    source.addEventListener('message', ({ data }) => onItem({ type: 'event', ...JSON.parse(data) }));
    source.addEventListener('resync', ({ lastEventId: id }) => onItem({ type: 'resync', id }));
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    source.close();
  },
  httpSubscriptionLink: connectTrpc((origin) => ({
    link: httpSubscriptionLink({ url: `${origin}/trpc`, EventSource }),
  })),
  wsLink: connectTrpc((origin) => {
    const client = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc` });
    return { link: wsLink({ client }), close: () => client.close() };
  }),
  /** One call for each event. */
  async MCP({ input, onItem, origin, signal }) {
    const params = { name: 'changes', arguments: { ...input, limit: 1 } };
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      signal,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const [message = ''] = (await response.text()).match(/\{.*/) ?? [];
    const { content, isError } = JSON.parse(message).result;
    const body = JSON.parse(content[0].text);
    if (!isError) onItem({ type: 'event', ...body });
    else if (body.code === 'RESYNC') onItem({ type: 'resync', id: body.data.lastEventId });
  },
};
