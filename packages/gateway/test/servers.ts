import type { Gateway } from '@petstore/gateway';
import type { ServeOptions } from '@petstore/gateway/uws';
import { TestRunner } from 'vitest';
import { adapterOfRun, adapters, type Capability } from './adapters.ts';
import { listen, type Server } from './listen.ts';

const adapter = adapterOfRun();

/** Serves a gateway on the adapter of this run. */
export const serve: (gateway: Gateway, options?: ServeOptions) => Promise<Server> = listen;

/** Skips the running test where the adapter of this run lacks something. */
export function needs(capability: Capability): void {
  const has: readonly Capability[] = adapters[adapter];
  if (has.includes(capability)) return;
  const note = `The adapter ${adapter} does not have ${capability}.`;
  // Outside of a test there is nothing to skip.
  TestRunner.getCurrentTest()?.context.skip(note);
  throw new Error(note);
}
