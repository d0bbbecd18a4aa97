/*
 * A process of a service with a shared limit: `node limitedProcess.ts OPTIONS`, where OPTIONS is JSON. It makes a number of
 * calls and sends its parent how many were accepted.
 */
import { createGateway } from 'trpc-gateway';
import { initTRPC } from '@trpc/server';
import { openTestState, type TestState } from './openTestState.ts';

export interface LimitedOptions {
  readonly state: TestState;
  readonly limit: number;
  readonly windowMs: number;
  /** Number of calls that the process makes. */
  readonly calls: number;
}

const { calls, limit, state: stateOptions, windowMs }: LimitedOptions = JSON.parse(process.argv[2] ?? '');
const { state, close } = await openTestState(stateOptions);
const t = initTRPC.create();
const { fetch } = await createGateway({
  router: t.router({ ping: t.procedure.query(() => 'pong') }),
  createContext: () => ({}),
  document: { title: 'Limited', version: '0.0.0' },
  rateLimit: { calls: limit, windowMs },
  state,
});
// Starts at the same time as the other processes.
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
let accepted = 0;
const concurrency = 8;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let call = 0; call < calls / concurrency; call += 1) {
      const { status } = await fetch('http://localhost/trpc/ping');
      if (status === 200) accepted += 1;
      else if (status !== 429) throw new Error(`The status is ${status}.`);
    }
  }),
);
await close();
process.send?.({ accepted });
process.disconnect();
