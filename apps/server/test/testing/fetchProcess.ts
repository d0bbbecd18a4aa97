import type { Gateway } from 'trpc-gateway';
import type { Adapter } from 'trpc-gateway-runtime';
import { endWithError, stopOnSignals } from 'trpc-gateway-runtime/signals';
import { listenWithFetch } from '@petstore/testing/fetchServer';
import { startServer } from '../../src/serve.ts';
import { readConfiguration } from '../../src/configuration/configuration.ts';
import { expectedErrors } from '../../src/explain.ts';

// Runs the pet store on `gateway.fetch` behind a minimal HTTP server, with the same store, configuration and pages.

const adapter: Adapter = {
  server: 'node',
  async serve(gateway, { port = 0 } = {}) {
    // Always a whole gateway here.
    const { fetch } = gateway as Gateway;
    const server = await listenWithFetch(fetch, port);
    return {
      host: '127.0.0.1',
      port: server.port,
      inFlight: () => 0,
      connections: () => ({ http: 0, webSockets: 0 }),
      close: async () => server.close().then(() => 0),
    };
  },
};

try {
  const starting = startServer(readConfiguration(process.env), { adapter });
  stopOnSignals(starting);
  await starting;
} catch (error) {
  endWithError(error, expectedErrors);
}
