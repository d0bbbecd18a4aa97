import { createGateway } from 'trpc-gateway';
import { serve } from '../servers.ts';
import type { ServeRpc } from './start.ts';

/** Serves the gateway through the adapter under test. */
export const serveGateway: ServeRpc = async ({
  router,
  createContext,
  onError = () => {},
  maxBodySize = 1_048_576,
}) => {
  const gateway = await createGateway({
    router,
    createContext,
    maskUnexpectedErrors: false,
    maxBodySize,
    trpc: { onError },
    document: { title: 'RPC clients', version: '0.0.0' },
    // Procedures throw on purpose: do not log their errors.
    onResponse: () => {},
  });
  const server = await serve(gateway);
  return {
    origin: server.origin,
    fetch: server.fetch,
    get port() {
      return server.port;
    },
    close: async () => {
      await server.close({ timeoutMs: 1000, graceMs: 0 });
    },
  };
};
