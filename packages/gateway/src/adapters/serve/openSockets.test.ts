import { expect, it } from 'vitest';
import { OpenSockets } from './openSockets.ts';
import { ok } from './testing/dial.ts';
import { createListening } from './createListening.ts';

const service = { handle: () => ok() };

it('OpenSockets reserves a quarter of the bytes of WebSockets for closing sockets, and the same bytes again once they have ended', () => {
  const sockets = new OpenSockets(service, 4000);
  for (let round = 0; round < 3; round += 1) {
    const releases = [sockets.reserveClosing(60), sockets.reserveClosing(40)];
    expect(sockets.closingSockets).toBe(2);
    expect(sockets.reserveClosing(1)).toBeUndefined();
    for (const release of releases) release?.();
    expect(sockets.closingSockets).toBe(0);
  }
});

it('close with timeoutMs: 0 cuts off calls at once, and stops the server only once', async () => {
  let ends = 0;
  const { close } = createListening({
    responder: { inFlight: 2, drain() {}, expire: () => false },
    sockets: new OpenSockets({ handle: () => ok() }),
    connections: () => 1,
    stopListening() {},
    end: () => (ends += 1),
  });
  expect(await Promise.all([close({ timeoutMs: 0 }), close()])).toEqual([2, 2]);
  expect(ends).toBe(1);
});
