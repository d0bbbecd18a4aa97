import { exchange, type Patience } from './exchange.ts';
import type { RawHost } from './hosts.ts';
import type { Deeds } from './judge.ts';

/** Servers that are asked one after the other each: what one handled meanwhile is of the bytes that it was sent. */
export interface Lanes {
  /** Sends pieces on a connection of their own, when a server is free. */
  run(pieces: readonly string[], patience: Patience): Promise<Deeds>;
  close(): Promise<void>;
}

export async function openLanes(open: () => Promise<RawHost>, count: number): Promise<Lanes> {
  const hosts = await Promise.all(Array.from({ length: count }, open));
  const free = [...hosts];
  const waiting: ((host: RawHost) => void)[] = [];
  const take = () => {
    const host = free.pop();
    return host === undefined ? new Promise<RawHost>((resolve) => waiting.push(resolve)) : host;
  };
  const give = (host: RawHost) => {
    const next = waiting.shift();
    if (next) next(host);
    else free.push(host);
  };
  return {
    async run(pieces, patience) {
      const host = await take();
      const exchanged = await exchange(host.port, pieces, patience);
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
