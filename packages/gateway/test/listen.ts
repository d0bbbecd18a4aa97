import type { Service } from 'trpc-gateway';
import { serve as serveOnNode } from 'trpc-gateway/node';
import { type CloseOptions, type Listening, serve, type ServeOptions } from 'trpc-gateway/uws';
import { type Adapter, adapterOfRun } from './adapters.ts';
import { type Fetch, globalFetch } from './fetch.ts';

/** A running gateway, as its clients reach it. */
export interface Server extends Pick<Listening, 'inFlight' | 'connections'> {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly fetch: Fetch;
  readonly port: number;
  close(options?: CloseOptions): Promise<number>;
}

const serveOn: Readonly<Partial<Record<Adapter, typeof serve>>> = { uws: serve, node: serveOnNode };
const adapter = adapterOfRun();

/**
 * Serves a gateway on a port of 127.0.0.1, by the adapter of this run.
 * @throws {Error} if the adapter has no port
 */
export async function listen(service: Service, options?: ServeOptions): Promise<Server> {
  const serveOnPort = serveOn[adapter];
  if (!serveOnPort) throw new Error(`The adapter ${adapter} does not have a port.`);
  const listening = await serveOnPort(service, options);
  return { ...listening, origin: `http://127.0.0.1:${listening.port}`, fetch: globalFetch };
}
