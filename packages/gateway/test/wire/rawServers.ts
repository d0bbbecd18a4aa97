import { createGateway } from 'trpc-gateway';
import { listen } from '../listen.ts';
import { createPets } from '../pets.ts';
import type { RawOutcome } from './findProblems.ts';
import { send, type SendTimes } from './send.ts';

/** A pet API on a port, with a record of the requests that reached the gateway. */
type RawServer = Awaited<ReturnType<typeof gatewayServer>>;

async function gatewayServer() {
  const { router, rows } = createPets();
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pets', version: '1.0.0' },
  });
  /** The requests that reached the gateway, as method and target, in order. The reader empties the array. */
  const handled: string[] = [];
  const server = await listen({
    handle(request) {
      handled.push(`${request.method} ${request.path}${request.query === '' ? '' : '?'}${request.query}`);
      return gateway.handle(request);
    },
  });
  return {
    port: server.port,
    handled,
    storedNames: () => rows.map(({ name }) => name),
    clearStore: () => void rows.splice(0),
    close: async () => void (await server.close({ timeoutMs: 0 })),
  };
}

export type ServerPool = Awaited<ReturnType<typeof openServerPool>>;

/** Opens servers that handle one connection at a time each, so that all handled requests come from the bytes just sent. */
export async function openServerPool(count: number) {
  const servers = await Promise.all(Array.from({ length: count }, gatewayServer));
  const free = [...servers];
  const waiting: ((server: RawServer) => void)[] = [];
  const take = () => {
    const server = free.pop();
    return server === undefined ? new Promise<RawServer>((resolve) => waiting.push(resolve)) : server;
  };
  const release = (server: RawServer) => {
    const next = waiting.shift();
    if (next) next(server);
    else free.push(server);
  };
  return {
    /** Waits for a free server, sends the pieces on a new connection, and clears the store afterwards. */
    async run(pieces: readonly string[], times: SendTimes): Promise<RawOutcome> {
      const server = await take();
      const received = await send(server.port, pieces, times);
      const outcome = { received, handled: server.handled.splice(0), storedNames: server.storedNames() };
      server.clearStore();
      release(server);
      return outcome;
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
