import { initTRPC } from '@trpc/server';
import { createGateway, type Gateway, type GatewayOptions, type RequestRecord } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { afterAll, onTestFinished } from 'vitest';
import type { Server } from '../listen.ts';
import { serve } from '../servers.ts';
import { createToolGateway, type ToolGateway } from './toolRouter.ts';

export const t = initTRPC.context<{ readonly user?: string | undefined }>().meta<GatewayMeta>().create();
export const tool = t.procedure.meta({ mcp: { description: 'A tool of the tests.' } });

/** Creates a gateway of procedures of a test, and a server that calls it in process. */
export async function inProcess(
  procedures: Parameters<typeof t.router>[0],
  options: Partial<GatewayOptions<ReturnType<typeof t.router>, string>> = {},
) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    router: t.router(procedures),
    createContext: ({ identity }) => ({ user: identity }),
    document: { title: 'Tools', version: '1' },
    mcp: mcp(),
    idempotency: { caller: () => undefined },
    onResponse: (record) => void records.push(record),
    ...options,
  });
  return { gateway, records, server: { fetch: gateway.fetch, origin: 'http://localhost' } };
}

type Options = Parameters<typeof createToolGateway>[0];

const atOnce = { timeoutMs: 0, graceMs: 0 };

/** Serves a gateway until the test ends. */
export async function serveInTest<Created extends { readonly gateway: Gateway }>(
  created: Created,
): Promise<Created & { readonly server: Server }> {
  const server = await serve(created.gateway);
  onTestFinished(async () => void (await server.close(atOnce)));
  return { ...created, server };
}

/** Returns a function that serves the tools: by one server for all tests without options. */
export function toolServers(): (options?: Options) => Promise<ToolGateway & { readonly server: Server }> {
  let shared: Promise<ToolGateway & { readonly server: Server }> | undefined;
  afterAll(async () => void (await (await shared)?.server.close(atOnce)));
  async function run() {
    const created = await createToolGateway();
    return { ...created, server: await serve(created.gateway) };
  }
  return async (options) => {
    if (options !== undefined) return serveInTest(await createToolGateway(options));
    const running = await (shared ??= run());
    running.records.length = 0;
    running.seen.aborted.length = 0;
    return running;
  };
}
