import { createServer } from 'node:http';
import { openapi } from '@orpc/openapi';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { os } from '@orpc/server';
import { RPCHandler } from '@orpc/server/node';
import { RPCHandler as SocketHandler } from '@orpc/server/websocket';
import { WebSocketServer } from 'ws';
import { accepted, resultOf } from './procedures.ts';

// oRPC on Node: its RPC handler, its OpenAPI handler, and its handler for WebSockets.

const pair = (folder: string) => ({
  procedure_1: os
    .meta(openapi({ method: 'GET', path: `/${folder}procedure_1` }))
    .input(accepted)
    .handler(({ input }) => resultOf(`${folder}procedure_1`, input)),
  procedure_2: os.input(accepted).handler(({ input }) => resultOf(`${folder}procedure_2`, input)),
});
const router = { ...pair(''), nested: { ...pair('nested/'), nested: pair('nested/nested/') } };

const rpc = new RPCHandler(router);
const rest = new OpenAPIHandler(router);
const calls = new SocketHandler(router);

const server = createServer((req, res) => {
  const handled = req.url?.startsWith('/rpc/')
    ? rpc.handle(req, res, { prefix: '/rpc' })
    : rest.handle(req, res, { prefix: '/v1' });
  void handled.then(({ matched }) => {
    if (!matched) res.writeHead(404).end();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');

new WebSocketServer({ server }).on('connection', (socket) => {
  // The types of ws differ from those of the DOM, which oRPC names, in an option that neither reads.
  calls.upgrade(socket as unknown as Parameters<typeof calls.upgrade>[0]);
});
