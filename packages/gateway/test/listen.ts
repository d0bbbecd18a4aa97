import type { Service } from 'trpc-gateway';
import type { CloseOptions, Listening, ServeOptions } from 'trpc-gateway/node';
import { type Adapter, adapterOfRun } from './adapters.ts';

/** `fetch` with options that may be `undefined`, as `@trpc/client` passes them under `exactOptionalPropertyTypes`. */
export type Fetch = (
  input: string | URL | Request,
  init?: { readonly [Option in keyof RequestInit]: RequestInit[Option] | undefined },
) => Promise<Response>;

/** Node's `fetch`, which treats `undefined` as an option that is not set. */
export const globalFetch = globalThis.fetch as Fetch;

/** A running gateway, as its clients reach it. */
export interface Server extends Pick<Listening, 'inFlight' | 'connections'> {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly fetch: Fetch;
  readonly port: number;
  close(options?: CloseOptions): Promise<number>;
}

interface PortAdapter {
  serve(service: Service, options?: ServeOptions): Promise<Listening>;
}

/** Each is loaded where it is used: uWebSockets.js runs on Node only, `Bun.serve` on Bun only. */
const loads: Readonly<Partial<Record<Adapter, () => Promise<PortAdapter>>>> = {
  uws: () => import('trpc-gateway/uws'),
  node: () => import('trpc-gateway/node'),
  bun: () => import('trpc-gateway/bun'),
};
const adapter = adapterOfRun();

/** Serves on a port of 127.0.0.1, by the adapter of this run. @throws {Error} if the adapter has no port */
export async function listen(service: Service, options?: ServeOptions): Promise<Server> {
  const load = loads[adapter];
  if (!load) throw new Error(`The adapter ${adapter} does not have a port.`);
  const listening = await (await load()).serve(service, options);
  return { ...listening, origin: `http://127.0.0.1:${listening.port}`, fetch: globalFetch };
}
