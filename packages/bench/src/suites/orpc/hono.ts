import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { validator } from 'hono/validator';
import { resultOf } from './procedures.ts';

// Hono on Node, with a validator that accepts everything.

const accepted = validator('query', (value) => value);
const app = new Hono();

for (const folder of ['', 'nested/', 'nested/nested/']) {
  for (const name of [`${folder}procedure_1`, `${folder}procedure_2`]) {
    app.get(`/v1/${name}`, accepted, (c) => c.json(resultOf(name, c.req.valid('query'))));
  }
}

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT']) });
