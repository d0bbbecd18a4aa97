import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ok } from '../server/testing/dial.ts';
import { requestLimits } from '../server/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { NodeResponder } from './responder.ts';

it('a response whose write throws no longer counts as unsent, so the next large response is sent', async () => {
  const body = 'x'.repeat(100_000);
  const service = { handle: () => ok(body) };
  const responder = new NodeResponder(service, 50_000);
  let requests = 0;
  const server = createServer((message, res) => {
    requests += 1;
    if (requests === 1) {
      res.write = () => {
        throw new Error('A middleware throws.');
      };
    }
    responder.receive(new MountedRequest(message, res, requestLimits(service)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(fetch(origin)).rejects.toThrow('fetch failed');
  expect((await fetch(origin)).status).toBe(200);
});
