/**
 * Measures the time to read and check the head of a request: `node --conditions=trpc-gateway-source headCost.ts`. Prints
 * nanoseconds, the minimum of many rounds. All rounds run within one handler of uWebSockets.js, so that nothing else is
 * measured.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { HttpRequest as NativeRequest } from '@uwsjs/core';
import { uws } from '../addon.ts';
import { UwsHead } from '../request.ts';

const heads = {
  'GET with 6 headers':
    'GET /v1/pets/123?limit=20 HTTP/1.1\r\nHost: localhost:3000\r\nUser-Agent: node\r\nAccept: */*\r\n' +
    `Authorization: Bearer psk_${'a'.repeat(43)}\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\n\r\n`,
  'GET with Host only': 'GET /v1/pets/123 HTTP/1.1\r\nHost: localhost:3000\r\n\r\n',
};
const repeats = 5000;
const rounds = 60;

const head = new UwsHead();
let sink = 0;
const byName = (req: NativeRequest, names: readonly string[]) => {
  for (const name of names) sink += req.getHeader(name).length;
};
const commonHeaders = ['authorization', 'x-request-id', 'origin', 'traceparent'];
const variants: Record<string, (req: NativeRequest) => void> = {
  'framing by name, no check': (req) => byName(req, ['transfer-encoding', 'content-length']),
  'all headers': (req) => head.read(req),
  'all headers, and the checks': (req) => {
    head.read(req);
    if (head.rejection('GET', '/v1/pets/123', 'limit=20', 16_384)) sink += 1;
  },
  'four more by name': (req) => byName(req, commonHeaders),
  'four more from the read headers': () => {
    for (const name of commonHeaders) {
      for (let at = 0; at < head.count; at += 1) if (head.names[at] === name) sink += at;
    }
  },
};

for (const [kind, requestText] of Object.entries(heads)) {
  const app = uws.App().any('/*', (res, req) => {
    const minimumNs = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [variant, run] of Object.entries(variants)) {
        const begun = process.hrtime.bigint();
        for (let left = repeats; left > 0; left -= 1) run(req);
        const each = Number(process.hrtime.bigint() - begun) / repeats;
        minimumNs.set(variant, Math.min(each, minimumNs.get(variant) ?? Infinity));
      }
    }
    res.end(
      JSON.stringify(Object.fromEntries([...minimumNs].map(([name, ns]) => [name, Math.round(ns)])), null, 2),
    );
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket ? uws.us_socket_local_port(socket) : 0));
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(requestText);
  const [response] = await once(socket, 'data');
  process.stdout.write(`${kind}: ${String(response).split('\r\n\r\n')[1]}\n`);
  socket.destroy();
  app.close();
}
if (sink < 0) process.stdout.write('never\n');
