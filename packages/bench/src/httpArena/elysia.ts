import { Elysia } from 'elysia';

// Elysia on Bun, without schemas. A number is sent as text.

new Elysia()
  .get('/baseline11', ({ query }) => Number(query['a']) + Number(query['b']))
  .post('/baseline11', ({ query, body }) => Number(query['a']) + Number(query['b']) + Number(body), {
    parse: 'text',
  })
  .listen({ hostname: '127.0.0.1', port: Number(process.env['PORT']) });
