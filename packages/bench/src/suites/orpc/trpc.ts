import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { WebSocketServer } from 'ws';
import { router } from './trpcRouter.ts';

// tRPC's standalone adapter, and its adapter for ws.

const server = createHTTPServer({ router, basePath: '/trpc/' });
applyWSSHandler({ wss: new WebSocketServer({ server }), router });
server.listen(Number(process.env['PORT']), '127.0.0.1');
