import type { Serve } from '../conformance/client.ts';
import { apiKey, type Folder, newFolder } from './newFolder.ts';
import { ready, type RunOptions } from './petStoreProcess.ts';

/** Starts processes for the conformance suite. @param newStore creates the store of each. Default: a folder */
export const serveProcess =
  (options: RunOptions = {}, newStore: (atEnd: AtEnd) => Promise<Pick<Folder, 'serve'>> = newFolder): Serve =>
  async () => {
    const ends: (() => Promise<void>)[] = [];
    const store = await newStore((end) => ends.unshift(end));
    const server = await store.serve({ ...options, env: { API_KEY: apiKey } });
    await ready(server);
    return {
      origin: server.origin,
      apiKey,
      async close() {
        await server.stop();
        for (const end of ends) await end();
      },
    };
  };

type AtEnd = (end: () => Promise<void>) => void;
