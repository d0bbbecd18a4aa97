import { handleUpgrades, nodeHandler } from 'trpc-gateway/node';
import express from 'express';
import { gateway } from './gateway.ts';

const app = express();
app.get('/api/hello', (_request, response) => {
  response.send('Hello from Express.');
});
// For other paths, `nodeHandler` calls the next handler.
app.use(nodeHandler(gateway));
app.use((_request, response) => {
  response.status(404).send('Express has no such page.');
});

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
// WebSockets, for tRPC's wsLink.
const upgrades = handleUpgrades(server, gateway);
process.once('SIGTERM', () => {
  void upgrades.close().then(() => server.close());
  // Ends what is still open after 5 s, such as streams of events.
  setTimeout(() => server.closeAllConnections(), 5_000).unref();
});
