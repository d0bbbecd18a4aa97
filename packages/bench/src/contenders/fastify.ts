import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify';
import type { NewPet } from '@petstore/core';
import { fastify, type FastifyReply } from 'fastify';
import { notFound, unauthorized } from '../petStore/failure.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { appRouter } from '../petStore/servedRouter.ts';
import { findPet, listPets, store } from '../petStore/store.ts';

// fastify 5 with its own validator and serializer (JSON Schema), and tRPC's own plugin for it.

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string', maxLength: 1000 }, categoryId: { type: 'integer' }, status },
};
const animal = {
  type: 'object',
  required: ['id', 'name', 'categoryId'],
  properties: { id: { type: 'integer' }, ...newPet.properties },
};
const getParameters = {
  type: 'object',
  required: ['petId'],
  properties: { petId: { type: 'integer' } },
};
const listParameters = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status,
    cursor: { type: 'integer' },
  },
};

const server = fastify({ logger: false, routerOptions: { maxParamLength: 10_000 } });
const authorization = `Bearer ${process.env['API_KEY']}`;

server.addHook('onRequest', (request, reply, done) => {
  if (request.headers.authorization === authorization) done();
  else void reply.code(401).send(unauthorized);
});

await server.register(
  async (rest) => {
    rest.get(
      '/pets/:petId',
      { schema: { params: getParameters, response: { 200: animal } } },
      ({ params }, reply: FastifyReply) => {
        const stored = findPet((params as { petId: number }).petId);
        if (stored === undefined) void reply.code(404);
        void reply.send(stored ?? notFound);
      },
    );
    rest.get(
      '/pets',
      { schema: { querystring: listParameters, response: { 200: { type: 'array', items: animal } } } },
      ({ query }, reply) => {
        void reply.send(listPets(query as Parameters<typeof listPets>[0]).records);
      },
    );
    rest.post('/pets', { schema: { body: newPet, response: { 201: animal } } }, ({ body }, reply) => {
      void reply.code(201);
      void store.create(body as NewPet).then((created) => reply.send(created));
    });
  },
  { prefix: '/v1' },
);

await server.register(fastifyTRPCPlugin, {
  prefix: '/trpc',
  trpcOptions: { router: appRouter, createContext: rpcContext },
} satisfies FastifyTRPCPluginOptions<typeof appRouter>);

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
