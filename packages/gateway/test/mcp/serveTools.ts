import { afterAll, onTestFinished } from 'vitest';
import type { Gateway } from 'trpc-gateway';
import type { Server } from '../listen.ts';
import { serve } from '../servers.ts';
import { createToolGateway, type ToolGateway } from './toolRouter.ts';

type Options = Parameters<typeof createToolGateway>[0];

const atOnce = { callTimeoutMs: 0, graceMs: 0 };

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
