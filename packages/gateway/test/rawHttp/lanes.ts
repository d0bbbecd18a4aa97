import { send, type Patience } from './send.ts';
import type { RawServer } from './hosts.ts';
import type { Deeds } from './judge.ts';

/** Servers that are asked one after the other each: what one handled meanwhile is of the bytes that it was sent. */
export interface Lanes {
  /** Sends pieces on a connection of their own, when a server is free. */
  run(pieces: readonly string[], patience: Patience): Promise<Deeds>;
  close(): Promise<void>;
}

export async function openLanes(open: () => Promise<RawServer>, count: number): Promise<Lanes> {
  const hosts = await Promise.all(Array.from({ length: count }, open));
  const free = [...hosts];
  const waiting: ((host: RawServer) => void)[] = [];
  const take = () => {
    const host = free.pop();
    return host === undefined ? new Promise<RawServer>((resolve) => waiting.push(resolve)) : host;
  };
  const give = (host: RawServer) => {
    const next = waiting.shift();
    if (next) next(host);
    else free.push(host);
  };
  return {
    async run(pieces, patience) {
      const host = await take();
      const exchanged = await send(host.port, pieces, patience);
      const deeds = { exchanged, handled: host.handled.splice(0), names: host.names() };
      host.forget();
      give(host);
      return deeds;
    },
    async close() {
      await Promise.all(hosts.map((host) => host.close()));
    },
  };
}
