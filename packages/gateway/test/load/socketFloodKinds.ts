import { frame } from '@petstore/testing/webSocketFrames';
import { apiKey } from './requests.ts';

/** The request that opens a WebSocket. The frames of a flood follow its response. */
const upgradeHead =
  `GET /trpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n` +
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** A flood of messages: `times` of them are written at once, again and again. */
const messages = (text: string, connections: number, times: number) => ({
  connections,
  head: upgradeHead,
  block: frame(text).toString('latin1').repeat(times),
});

const query = (path: string, id = 1) => ({ id, method: 'query', params: { path, input: { petId: 1 } } });
const valid = JSON.stringify(query('getPet'));
const batch = JSON.stringify(Array.from({ length: 2000 }, (_, id) => query('getPet', id)));
const subscriptions = JSON.stringify(
  Array.from({ length: 2000 }, (_, id) => ({ id, method: 'subscription', params: { path: 'none' } })),
);

/** That of one whose key is to follow. */
const upgradeWithoutKey = upgradeHead
  .replace('/trpc', '/trpc?connectionParams=1')
  .replace(/Authorization.*\r\n/, '');

/** 250 WebSockets that send a block once and read nothing. Opening them at once again would be another flood. */
const held = (frames: Uint8Array, head = upgradeHead) => ({
  connections: 250,
  head,
  block: Buffer.from(frames).toString('latin1'),
  isOnce: true,
  reopenMs: 1000,
});
/** All but the last byte of a message of 3.9 MB. */
const unfinished = frame('x'.repeat(3_899_999), { length: 3_900_000 });
const pings = Buffer.concat(Array.from({ length: 500 }, () => frame('x'.repeat(120), { opcode: 9 })));
/** 40 responses of 130 KB. */
const largeCalls = Buffer.concat(
  Array.from({ length: 40 }, (_, id) =>
    frame(JSON.stringify({ id, method: 'query', params: { path: 'listPets', input: { limit: 14 } } })),
  ),
);

/** Floods of WebSockets whose key is valid. 65,714 malformed messages are 460 KB, one read of uWebSockets.js. */
export const socketFloods = {
  'malformed messages on 10 WebSockets': messages('{', 10, 65_714),
  'PING messages on 10 WebSockets': messages('PING', 10, 40_000),
  'queries on 10 WebSockets': messages(valid, 10, 5000),
  'messages of 2,000 queries on 10 WebSockets': messages(batch, 10, 2),
  'messages of 2,000 unknown subscriptions on 10 WebSockets': messages(subscriptions, 10, 2),
  'WebSockets that send no key': held(new Uint8Array(), upgradeWithoutKey),
  'WebSockets that do not finish a message of 3.9 MB': held(unfinished),
  'WebSockets without a key that do not finish a message of 3.9 MB': held(unfinished, upgradeWithoutKey),
  'WebSockets that ping and do not read': { ...held(pings), connections: 50 },
  'WebSockets that do not read their responses': held(largeCalls),
};
