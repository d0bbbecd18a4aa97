import type { Gateway } from 'trpc-gateway';
import { TestRunner } from 'vitest';
import { adapterOfRun, adapters, type Capability } from './adapters.ts';
import { listen, type Server } from './listen.ts';

const adapter = adapterOfRun();

/** Serves a gateway by the adapter of this run. */
export const serve = async (gateway: Gateway, options?: Parameters<typeof listen>[1]): Promise<Server> =>
  adapter === 'fetch' ? new FetchServer(gateway) : listen(gateway, options);

export const has = (capability: Capability): boolean =>
  (adapters[adapter] as readonly Capability[]).includes(capability);

/** Skips the running test if the adapter of this run lacks a feature. */
export function needs(capability: Capability): void {
  if (!has(capability)) skip(capability);
}

function skip(capability: Capability): never {
  const note = `The adapter ${adapter} does not have ${capability}.`;
  // Outside of a test there is no context, and the error is the result.
  TestRunner.getCurrentTest()?.context.skip(note);
  throw new Error(note);
}

/** A server without a port: `gateway.fetch`, with the client address that a port would have. */
class FetchServer implements Server {
  readonly origin = 'http://127.0.0.1';
  readonly fetch: Server['fetch'];

  constructor({ fetch }: Gateway) {
    this.fetch = (input, init) => fetch(input, { ...init, remoteAddress: '127.0.0.1' });
  }

  get port(): number {
    return skip('a port');
  }

  inFlight(): number {
    return skip('a count of its connections');
  }

  connections(): ReturnType<Server['connections']> {
    return skip('a count of its connections');
  }

  async close(): Promise<number> {
    return 0;
  }
}
