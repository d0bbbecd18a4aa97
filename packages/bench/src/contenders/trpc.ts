import { createServer } from 'node:http';
import type { AnyTRPCRouter } from '@trpc/server';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { createOpenApiNodeHttpHandler } from 'trpc-to-openapi';
import { WebSocketServer } from 'ws';
import { unauthorized } from '../petStore/failure.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { appRouter } from '../petStore/servedRouter.ts';

// tRPC's standalone adapter and its adapter for ws, and trpc-to-openapi for REST, over the pet store's own router.

const rpc = createHTTPHandler({ router: appRouter, basePath: '/trpc/', createContext: rpcContext });

/** The same router, with errors in the pet store's form: trpc-to-openapi sends what the formatter gives. */
const restRouter = {
  ...appRouter,
  _def: {
    ...appRouter._def,
    _config: {
      ...appRouter._def._config,
      errorFormatter: ({
        shape,
      }: {
        shape: { data: { code: string; httpStatus: number }; message: string };
      }) => ({
        code: shape.data.code,
        message: shape.message,
        status: shape.data.httpStatus,
      }),
    },
  },
} as unknown as AnyTRPCRouter;

const rest = createOpenApiNodeHttpHandler({
  // The type of the adapter requires its own metadata.
  router: restRouter as Parameters<typeof createOpenApiNodeHttpHandler>[0]['router'],
  createContext: rpcContext,
  responseMeta: ({ paths, errors }) =>
    paths?.[0] === 'createPet' && errors.length === 0 ? { status: 201 } : {},
});

const authorization = `Bearer ${process.env['API_KEY']}`;

const server = createServer((req, res) => {
  const { headers, url = '' } = req;
  if (headers.authorization !== authorization) {
    res.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(unauthorized));
  } else if (url.startsWith('/trpc/')) rpc(req, res);
  else {
    req.url = url.slice('/v1'.length);
    void rest(req, res);
  }
});

const sockets = new WebSocketServer({ noServer: true });
applyWSSHandler({ wss: sockets, router: appRouter, createContext: rpcContext });
server.on('upgrade', (req, socket, head) => {
  if (req.headers.authorization !== authorization) socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
  else sockets.handleUpgrade(req, socket, head, (client) => sockets.emit('connection', client, req));
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
