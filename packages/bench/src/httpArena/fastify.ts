import { fastify } from 'fastify';
import { pageOf } from './items.ts';

// Fastify without a validator, and with its own serializer, which takes a JSON Schema.

const integer = { type: 'integer' };
const text = { type: 'string' };
const item = {
  type: 'object',
  properties: {
    id: integer,
    name: text,
    category: text,
    price: integer,
    quantity: integer,
    active: { type: 'boolean' },
    tags: { type: 'array', items: text },
    rating: { type: 'object', properties: { score: integer, count: integer } },
    total: integer,
  },
};
const page = { type: 'object', properties: { items: { type: 'array', items: item }, count: integer } };

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
  { schema: { response: { 200: page } } },
  ({ params, query }, reply) => {
    void reply.send(pageOf(Number(params.count), Number(query.m)));
  },
);

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
