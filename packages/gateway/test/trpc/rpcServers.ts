import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { createGateway } from 'trpc-gateway';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { globalFetch, type Server } from '../listen.ts';
import { serve } from '../servers.ts';
import { endpointsOf } from './clients.ts';
import { createRpcRouter, LiveCalls } from './rpcRouter.ts';

interface RpcOptions {
  readonly calls: LiveCalls;
  readonly onError: (failed: { readonly path: string | undefined; readonly error: TRPCError }) => void;
  readonly maxBodySize?: number;
}

type RpcServer = Pick<Server, 'origin' | 'fetch' | 'port' | 'close'>;

/** Serves `createRpcRouter` by the gateway, through the adapter under test. */
export async function serveGateway({ calls, onError, ...limits }: RpcOptions): Promise<RpcServer> {
  const gateway = await createGateway({
    router: createRpcRouter(),
    createContext: () => ({ calls }),
    maskUnexpectedErrors: false,
    trpc: { onError },
    document: { title: 'RPC clients', version: '0.0.0' },
    // Procedures throw on purpose: do not log their errors.
    onResponse: () => {},
    ...limits,
  });
  return serve(gateway);
}

/** Serves `createRpcRouter` by tRPC's own adapters (standalone and ws) on one port, as the reference for the gateway. */
export async function serveOfficial({ calls, onError, ...limits }: RpcOptions): Promise<RpcServer> {
  const { maxBodySize = 1_048_576 } = limits;
  const options = { router: createRpcRouter(), createContext: () => ({ calls }), onError };
  const server = createHTTPServer({ ...options, basePath: '/trpc/', maxBodySize });
  const sockets = new WebSocketServer({ server, maxPayload: maxBodySize });
  applyWSSHandler({ ...options, wss: sockets, prefix: '/trpc' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    fetch: globalFetch,
    port,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
      return 0;
    },
  };
}

export type Running = Awaited<ReturnType<typeof startRpc>>;

/** Starts a server for the running test. `errors` has the path and the code of each `onError` call, in order. */
export async function startRpc(start: typeof serveGateway, options: Pick<RpcOptions, 'maxBodySize'> = {}) {
  const calls = new LiveCalls();
  const errors: string[] = [];
  const server = await start({
    ...options,
    calls,
    onError: ({ path, error }) => void errors.push(`${path ?? '-'} ${error.code}`),
  });
  onTestFinished(async () => {
    await server.close({ timeoutMs: 1000, graceMs: 0 });
  });
  return { endpoints: endpointsOf(server), server, calls, errors };
}
