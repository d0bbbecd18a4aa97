import type { Gateway } from 'trpc-gateway';
import { TestRunner } from 'vitest';
import { adapterOfRun, type Capability } from './adapters.ts';
import { listen, type Server } from './listen.ts';

const adapter = adapterOfRun();

/** Serves a gateway by the adapter of this run. */
export const serve = async (gateway: Gateway, options?: Parameters<typeof listen>[1]): Promise<Server> =>
  adapter === 'fetch' ? new FetchServer(gateway) : listen(gateway, options);

export const has = (_capability: Capability): boolean => adapter !== 'fetch';

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
  readonly inFlight = () => skip('a count of its connections');
  readonly connections = () => skip('a count of its connections');
  readonly close = async () => 0;

  constructor({ fetch }: Gateway) {
    this.fetch = (input, init) => fetch(input, { ...init, remoteAddress: '127.0.0.1' });
  }

  get port(): number {
    return skip('a port');
  }
}
