import { defineHandler, H3, serve } from 'h3';
import { gateway } from './gateway.ts';

// In Nitro, this handler is the default export of `routes/api/[...path].ts`.
const handler = defineHandler(({ req }) => gateway.fetch(req, { remoteAddress: req.ip }));

const app = new H3()
  .get('/api/hello', () => 'Hello from H3.')
  .all('/api/**', handler)
  .all('/**', () => new Response('H3 has no such page.', { status: 404 }));
serve(app, { hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) });
