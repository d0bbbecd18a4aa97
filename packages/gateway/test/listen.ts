import type { Service } from '@petstore/gateway';
import { type CloseOptions, type Listening, serve, type ServeOptions } from '@petstore/gateway/uws';
import { adapterOfRun } from './adapters.ts';
import { type Fetch, globalFetch } from './fetch.ts';

/** A gateway that is served, as its clients reach it. */
export interface Server extends Pick<Listening, 'inFlight' | 'connections'> {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly fetch: Fetch;
  readonly port: number;
  close(options?: CloseOptions): Promise<number>;
}

const adapter = adapterOfRun();
const serveOnAdapter: typeof serve = { uws: serve }[adapter];

/** Serves on a port of 127.0.0.1, on the adapter of this run. */
export async function listen(service: Service, options?: ServeOptions): Promise<Server> {
  const listening = await serveOnAdapter(service, options);
  return { ...listening, origin: `http://127.0.0.1:${listening.port}`, fetch: globalFetch };
}
