/**
 * Opens WebSockets that are accepted while another connection's request is read. A separate process, since a bug once
 * ended it. Prints how many opened and respond.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketAcceptor } from '../../../http/webSocket.ts';
import { recordingHandler } from '../../serve/testing/sockets.ts';
import { serve } from '../serve.ts';

const echo: SocketAcceptor = (socket) => ({
  ...recordingHandler(socket),
  inFlight: 0,
  message: (data) => socket.send(data.toString()),
});

let release = Promise.withResolvers<void>();
const listening = await serve({
  handle() {
    release.resolve();
    return { status: 200, headers: [], body: 'released' };
  },
  upgrade: () => release.promise.then(() => echo),
});

let openedSockets = 0;
for (let round = 0; round < 20; round += 1) {
  release = Promise.withResolvers();
  const clients = [1, 2, 3].map(() => new WebSocket(`ws://127.0.0.1:${listening.port}/`));
  const responses = clients.map(async (client) => {
    await once(client, 'open');
    client.send('hi');
    await once(client, 'message');
    openedSockets += 1;
  });
  // All three upgrades wait for their release.
  await sleep(20);
  const releaser = connect(listening.port, '127.0.0.1');
  releaser.write('GET /release HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(releaser, 'data');
  await Promise.race([Promise.all(responses), sleep(1000)]);
  for (const client of clients) client.close();
  releaser.destroy();
}
process.stdout.write(`${openedSockets} of 60 opened\n`);
await listening.close({ timeoutMs: 0 });
process.exit();
