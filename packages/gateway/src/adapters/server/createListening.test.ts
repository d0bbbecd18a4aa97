import { expect, it } from 'vitest';
import { createListening } from './createListening.ts';
import { OpenSockets } from './openSockets.ts';
import { ok } from './testing/dial.ts';

it('close with deadlineMs: 0 cuts off calls at once, and stops the server only once', async () => {
  let ends = 0;
  const { close } = createListening({
    responder: { inFlight: 2, drain() {}, expire: () => false },
    sockets: new OpenSockets({ handle: () => ok() }),
    connections: () => 1,
    stopListening() {},
    end: () => (ends += 1),
  });
  expect(await Promise.all([close({ deadlineMs: 0 }), close()])).toEqual([2, 2]);
  expect(ends).toBe(1);
});
