/**
 * Requests for WebSockets that are decided on while another connection's request is read: many, in a process of its own,
 * since what went wrong here once ended the process. Prints how many sockets were opened and still answer.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketAcceptor } from '../../../http/webSocket.ts';
import { serve } from '../serve.ts';

const accept: SocketAcceptor = (socket) => ({
  inFlight: 0,
  message: (data) => socket.send(data.toString()),
  pinged: () => {},
  drained: () => {},
  limited: () => {},
  closed: async () => {},
  drain: () => socket.close(1001),
});

let gate = Promise.withResolvers<void>();
const listening = await serve({
  handle() {
    gate.resolve();
    return { status: 200, headers: [], body: 'let in' };
  },
  upgrade: () => gate.promise.then(() => accept),
});

let response = 0;
for (let round = 0; round < 20; round += 1) {
  gate = Promise.withResolvers();
  const clients = [1, 2, 3].map(() => new WebSocket(`ws://127.0.0.1:${listening.port}/`));
  const responses = clients.map(async (client) => {
    await once(client, 'open');
    client.send('hi');
    await once(client, 'message');
    response += 1;
  });
  // All three wait to be let in.
  await sleep(20);
  const releaser = connect(listening.port, '127.0.0.1');
  releaser.write('GET /release HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(releaser, 'data');
  await Promise.race([Promise.all(responses), sleep(1000)]);
  for (const client of clients) client.close();
  releaser.destroy();
}
process.stdout.write(`${response} of 60 answered\n`);
await listening.close({ deadlineMs: 0 });
process.exit();
