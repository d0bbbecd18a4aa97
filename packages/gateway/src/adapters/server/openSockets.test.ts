import { expect, it } from 'vitest';
import { OpenSockets } from './openSockets.ts';
import { ok } from './testing/dial.ts';

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

it.each([
  [Infinity, 100],
  [400, 100],
  [10, 3],
])(
  'OpenSockets with maxConnections: %s reserves %i places for closing sockets, and a place again once its socket has ended',
  (maxConnections, places) => {
    const sockets = new OpenSockets(service, undefined, maxConnections);
    const releases = Array.from({ length: places }, () => sockets.reserveClosing(0));
    expect(releases).not.toContain(undefined);
    expect(sockets.reserveClosing(0)).toBeUndefined();
    releases[0]?.();
    expect(sockets.reserveClosing(0)).toBeDefined();
    expect(sockets.reserveClosing(0)).toBeUndefined();
  },
);

it('OpenSockets reserves a place for every socket while the server stops', () => {
  const sockets = new OpenSockets(service, undefined, 4);
  sockets.drain(0);
  for (let count = 0; count < 200; count += 1) expect(sockets.reserveClosing(0)).toBeDefined();
});
