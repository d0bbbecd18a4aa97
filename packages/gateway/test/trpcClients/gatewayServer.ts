import { createGateway } from 'trpc-gateway';
import type { serve as Serve } from '../servers.ts';
import type { ServeRpc } from './rpcServer.ts';

/** Serves the gateway through the given adapter. */
export const gatewayOn =
  (serve: typeof Serve): ServeRpc =>
  async ({
    router,
    createContext,
    basePath = '/trpc',
    port = 0,
    trpc = {},
    maxBodyBytes = 1_048_576,
    keepAlive,
  }) => {
    const gateway = await createGateway({
      router,
      createContext: ({ info }) => createContext(info),
      trpcBasePath: basePath,
      maxBodyBytes,
      trpc,
      ...(keepAlive && { sockets: { keepAlive } }),
      document: { title: 'RPC clients', version: '0.0.0' },
      // Procedures throw on purpose: do not log their errors.
      onResponse: () => {},
    });
    const server = await serve(gateway, { port });
    return {
      origin: server.origin,
      fetch: server.fetch,
      get port() {
        return server.port;
      },
      broadcastReconnect: () => gateway.broadcastReconnect(),
      close: async () => {
        await server.close({ deadlineMs: 1000, graceMs: 0 });
      },
    };
  };
