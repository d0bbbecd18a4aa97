import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { respond } from '../petStore/minimalRoutes.ts';
import { after } from '../petStore/resolvers.ts';

// Node's own HTTP server and nothing else, as minimal as `minimal`.

createServer((req, res) => {
  const { method = '', url: target = '/', headers } = req;
  const request = {
    method,
    target,
    authorization: headers.authorization,
    takesLines: headers['trpc-accept'] === 'application/jsonl',
    readBody: () => text(req),
  };
  void after(respond(request), ({ status, body, type = 'application/json' }) =>
    res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body),
  );
}).listen(Number(process.env['PORT']), '127.0.0.1');
