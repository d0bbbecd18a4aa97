import { fastify } from 'fastify';
import { z } from 'zod';
import { Page, pageOf } from './items.ts';

// Fastify without a validator, and with its own serializer, which takes a JSON Schema.

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
server.get<{ Params: { readonly count: string }; Querystring: { readonly m: string } }>(
  '/json/:count',
  { schema: { response: { 200: z.toJSONSchema(Page, { target: 'draft-7' }) } } },
  ({ params, query }, reply) => {
    void reply.send(pageOf(Number(params.count), Number(query.m)));
  },
);

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
