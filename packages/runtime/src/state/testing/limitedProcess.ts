/*
 * A process of a service whose limit others share: `node limitedProcess.ts OPTIONS`, where OPTIONS are JSON. It calls the
 * service until so many calls were rejected in a row, and prints how many were accepted.
 */
import { createGateway } from '@petstore/gateway';
import { initTRPC } from '@trpc/server';
import { openTestState, type TestState } from './openTestState.ts';

export interface LimitedOptions {
  readonly state: TestState;
  readonly requests: number;
  readonly windowSeconds: number;
  /** How many calls it makes. */
  readonly calls: number;
}

const { calls, requests, state: where, windowSeconds }: LimitedOptions = JSON.parse(process.argv[2] ?? '');
const { state, close } = await openTestState(where);
const t = initTRPC.create({ isDev: false });
const { fetch } = await createGateway({
  router: t.router({ ping: t.procedure.query(() => 'pong') }),
  createContext: () => ({}),
  document: { title: 'Limited', version: '0.0.0' },
  rateLimit: { requests, windowSeconds, state },
});
// Together with the others.
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
let accepted = 0;
const lanes = 8;
await Promise.all(
  Array.from({ length: lanes }, async () => {
    for (let call = 0; call < calls / lanes; call += 1) {
      const { status } = await fetch('http://localhost/trpc/ping');
      if (status === 200) accepted += 1;
      else if (status !== 429) throw new Error(`The status is ${status}.`);
    }
  }),
);
await close();
process.send?.({ accepted });
process.disconnect();
