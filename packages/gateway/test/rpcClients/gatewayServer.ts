import { createGateway } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import type { ServeWire } from './wireServer.ts';

/** The gateway, on uWebSockets.js. */
export const serveGateway: ServeWire = async ({
  router,
  createContext,
  basePath = '/trpc',
  port = 0,
  rpc = {},
  maxBodyBytes = 1_048_576,
  maxMessageBytes = 1_048_576,
  keepAlive,
  encoder,
}) => {
  const gateway = await createGateway({
    router,
    createContext: ({ info }) => createContext(info),
    rpcBasePath: basePath,
    maxBodyBytes,
    rpc,
    sockets: {
      maxMessageBytes,
      ...(keepAlive && { keepAlive }),
      ...(encoder && { experimental_encoder: encoder }),
    },
    document: { title: 'The whole wire', version: '0.0.0' },
    // Procedures fail here as they are meant to: nothing is to be printed.
    onExchange: () => {},
  });
  const listening = await serve(gateway, { port });
  return {
    port: listening.port,
    broadcastReconnect: () => gateway.broadcastReconnect(),
    close: async () => {
      await listening.close({ deadlineMs: 1000, graceMs: 0 });
    },
  };
};
