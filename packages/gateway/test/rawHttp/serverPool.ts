import type { RawOutcome } from './findProblems.ts';
import type { RawServer } from './rawServers.ts';
import { send, type SendTimes } from './send.ts';

/** Servers that handle one connection at a time each, so that all handled requests come from the bytes just sent. */
export interface ServerPool {
  /** Waits for a free server, sends the pieces on a new connection, and clears the store afterwards. */
  run(pieces: readonly string[], times: SendTimes): Promise<RawOutcome>;
  close(): Promise<void>;
}

export async function openServerPool(open: () => Promise<RawServer>, count: number): Promise<ServerPool> {
  const servers = await Promise.all(Array.from({ length: count }, open));
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
    async run(pieces, times) {
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
