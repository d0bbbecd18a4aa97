import { expect, it } from 'vitest';
import { createListening } from './createListening.ts';
import { OpenSockets } from './openSockets.ts';

it('a request that is read in the last turn of a stop is waited for', async () => {
  let inFlight: number | undefined;
  const sockets = new OpenSockets({ handle: () => ({ status: 200, headers: [] }) });
  const { close } = createListening({
    responder: {
      /** After the first check, which finds none, another request is read in the same turn. */
      get inFlight() {
        if (inFlight === undefined) {
          setImmediate(() => {
            inFlight = 1;
            setTimeout(() => (inFlight = 0), 20);
          });
        }
        return (inFlight ??= 0);
      },
      drain() {},
      expire: () => false,
    },
    sockets,
    connections: () => 0,
    stopListening() {},
    end() {},
  });
  // The number of requests that it did not wait for.
  expect(await close()).toBe(0);
});
