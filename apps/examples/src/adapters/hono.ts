import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { gateway } from './gateway.ts';

const app = new Hono();
app.get('/api/hello', (context) => context.text('Hello from Hono.'));
app.all('/api/*', (context, next) =>
  gateway.serves(context.req.path)
    ? gateway.fetch(context.req.raw, { remoteAddress: getConnInfo(context).remote.address })
    : next(),
);
app.notFound((context) => context.text('Hono has no such page.', 404));
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) });
process.once('SIGTERM', () => {
  server.close();
  // Ends what is still open after 5 s, such as streams of events.
  setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), 5_000).unref();
});
