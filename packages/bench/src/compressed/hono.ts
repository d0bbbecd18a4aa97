import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { From, listFrom, port } from './list.ts';

// Its own middleware, which compresses with `CompressionStream`.
const app = new Hono();
app.use(compress());
app.get('/v1/animals', (c) => c.json(listFrom(From.parse(c.req.query()).from)));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port });
