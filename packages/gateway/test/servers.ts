import type { Gateway } from '@petstore/gateway';
import { TestRunner } from 'vitest';
import { adapterOfRun, adapters, type Capability } from './adapters.ts';
import { listen, type Server } from './listen.ts';

const adapter = adapterOfRun();

/** Serves a gateway on the adapter of this run. */
export const serve = async (gateway: Gateway, options?: Parameters<typeof listen>[1]): Promise<Server> =>
  adapter === 'fetch' ? new InProcess(gateway) : listen(gateway, options);

/** Whether the adapter of this run has something. */
export const has = (capability: Capability): boolean =>
  (adapters[adapter] as readonly Capability[]).includes(capability);

/** Skips the running test where the adapter of this run lacks something. */
export function needs(capability: Capability): void {
  if (!has(capability)) skip(capability);
}

function skip(capability: Capability): never {
  const note = `The adapter ${adapter} does not have ${capability}.`;
  // Outside of a test there is nothing to skip.
  TestRunner.getCurrentTest()?.context.skip(note);
  throw new Error(note);
}

/** A gateway that is reached by its `fetch`, from the address that clients of a port have. */
class InProcess implements Server {
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

  /** There is nothing to close. */
  async close(): Promise<number> {
    return 0;
  }
}
