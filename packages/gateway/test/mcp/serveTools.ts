import type { Gateway, GatewayOptions } from 'trpc-gateway';
import { afterAll, onTestFinished } from 'vitest';
import type { Server } from '../listen.ts';
import { serve } from '../servers.ts';
import { createToolGateway, createTools, t, type ToolGateway } from './toolRouter.ts';

/** Creates a gateway of procedures of a test, and a server that calls it in process. */
export async function inProcess(
  procedures: Parameters<typeof t.router>[0],
  options: Partial<GatewayOptions<ReturnType<typeof t.router>, string>> = {},
) {
  const { gateway, records } = await createTools(t.router(procedures), options);
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
