import { fastify } from 'fastify';

// Fastify without a validator.

interface Sum {
  readonly a: string;
  readonly b: string;
}

const server = fastify({ logger: false });
server.get<{ Querystring: Sum }>('/baseline11', ({ query: { a, b } }, reply) => {
  void reply.type('text/plain').send(String(Number(a) + Number(b)));
});
server.post<{ Querystring: Sum; Body: string }>('/baseline11', ({ query: { a, b }, body }, reply) => {
  void reply.type('text/plain').send(String(Number(a) + Number(b) + Number(body)));
});

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
