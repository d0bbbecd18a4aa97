import { nodeHandler } from 'trpc-gateway/node';
import fastify from 'fastify';
import { gateway } from './gateway.ts';

const app = fastify();
const handler = nodeHandler(gateway);
app.get('/api/hello', () => 'Hello from Fastify.');
await app.register(async (scope) => {
  // Without Fastify's parsers: the gateway reads bodies itself, with its own limits.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.all('/api/*', (request, reply) => {
    if (!gateway.serves(new URL(request.url, 'http://x').pathname)) return reply.callNotFound();
    reply.hijack();
    handler(request.raw, reply.raw);
  });
});
app.setNotFoundHandler((_request, reply) => reply.code(404).send('Fastify has no such page.'));
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) });
process.once('SIGTERM', () => {
  void app.close();
  // Ends what is still open after 5 s, such as streams of events.
  setTimeout(() => app.server.closeAllConnections(), 5_000).unref();
});
