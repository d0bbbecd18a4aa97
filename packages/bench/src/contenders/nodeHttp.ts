import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type MinimalResponse, respond } from '../petStore/minimalRoutes.ts';

// Node's own HTTP server and nothing else, as minimal as `minimal`.

createServer((req, res) => {
  const { method = '', url: target = '/', headers } = req;
  const request = {
    method,
    target,
    authorization: headers.authorization,
    readBody: () => text(req),
  };
  const send = ({ status, body }: MinimalResponse) =>
    res
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  const result = respond(request);
  if (result instanceof Promise) void result.then(send);
  else send(result);
}).listen(Number(process.env['PORT']), '127.0.0.1');
