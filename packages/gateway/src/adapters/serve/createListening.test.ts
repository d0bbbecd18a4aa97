import { expect, it } from 'vitest';
import { createListening } from './createListening.ts';
import { OpenSockets } from './openSockets.ts';

it('a request that is read in the last turn of a stop is waited for', async () => {
  /** What is in flight each time that the stop asks; 0 after that. */
  const inFlight = [1, 0, 1, 1, 0];
  const sockets = new OpenSockets({ handle: () => ({ status: 200, headers: [] }) });
  const { close } = createListening({
    responder: {
      get inFlight() {
        return inFlight.shift() ?? 0;
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
  expect(inFlight).toEqual([]);
});
