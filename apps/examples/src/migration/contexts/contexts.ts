import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { initTRPC } from '@trpc/server';
import { createTRPCClient, httpLink } from '@trpc/client';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** Creates a router whose two procedures return their context: a query, and a mutation, whose request has a body. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the router's context
export function routerOf<Context extends object>() {
  const t = initTRPC.context<Context>().meta<GatewayMeta>().create({ isDev: false });
  return t.router({
    read: t.procedure
      .meta({ openapi: { method: 'GET', path: '/read' } })
      .output(z.unknown())
      .query(({ ctx }): unknown => ctx),
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/write' } })
      .input(z.object({ text: z.string() }))
      .output(z.unknown())
      .mutation(({ ctx }): unknown => ctx),
  });
}

type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;
type HeaderValues = Readonly<Record<string, string>>;

const origin = 'http://desk.example';

/** Returns the contexts of a tRPC query and a tRPC mutation. */
export async function trpcContexts(headers: HeaderValues, fetch: Fetch): Promise<unknown[]> {
  const client = createTRPCClient<ReturnType<typeof routerOf<object>>>({
    links: [
      httpLink({
        url: `${origin}/trpc`,
        headers,
        // The links of tRPC's client pass texts.
        fetch: async (url, init) => fetch(url as string, init as RequestInit),
      }),
    ],
  });
  return [await client.read.query(), await client.write.mutate({ text: 'x'.repeat(100_000) })];
}

/** Returns the contexts of a REST query and a REST mutation. */
export async function restContexts(headers: HeaderValues, fetch: Fetch): Promise<unknown[]> {
  const read = await fetch(`${origin}/v1/read`, { headers });
  const write = await fetch(`${origin}/v1/write`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'x'.repeat(100_000) }),
  });
  return [await read.json(), await write.json()];
}

/** Returns a `fetch` for a server of node:http, which is closed after the test. */
export async function fetchOf(server: Server): Promise<Fetch> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return (url, init) => fetch(url.replace(origin, `http://127.0.0.1:${port}`), init);
}
