import { serve } from '@hono/node-server';
import { Hono } from 'hono';

// Hono on Node, without a validator.

const app = new Hono();

app.get('/baseline11', (c) => c.text(String(Number(c.req.query('a')) + Number(c.req.query('b')))));
app.post('/baseline11', async (c) => {
  const body = Number(await c.req.text());
  return c.text(String(Number(c.req.query('a')) + Number(c.req.query('b')) + body));
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT']) });
