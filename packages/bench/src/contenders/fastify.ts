import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify';
import type { Animal, NewPet } from '@petstore/core';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { Failure, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { listPets, store } from '../petStore/operations.ts';
import {
  after,
  findUser,
  hasMiddleware,
  isAsync,
  type MaybePromise,
  type User,
} from '../petStore/resolvers.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { appRouter } from '../petStore/servedRouter.ts';

// fastify 5 with its own validator and serializer (JSON Schema), and tRPC's own plugin for it.

declare module 'fastify' {
  interface FastifyRequest {
    user: User | null;
  }
}

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

/** A handler: a sync one sends its result, an async one returns it. */
const handler = (resolve: (request: FastifyRequest, reply: FastifyReply) => MaybePromise<unknown>) =>
  isAsync
    ? async (request: FastifyRequest, reply: FastifyReply) => await resolve(request, reply)
    : (request: FastifyRequest, reply: FastifyReply) => {
        void after(resolve(request, reply), (result) => reply.send(result));
      };

const server = fastify({ logger: false, routerOptions: { maxParamLength: 10_000 } });
const authorization = `Bearer ${process.env['API_KEY']}`;

server.addHook('onRequest', (request, reply, done) => {
  if (request.headers.authorization === authorization) done();
  else void reply.code(401).send(unauthorized);
});
server.setNotFoundHandler((_request, reply) => reply.code(404).send(nowhere));
server.setErrorHandler<Error>((error, _request, reply) =>
  reply.code(400).send(new Failure('BAD_REQUEST', 400, error.message, -32_600)),
);

await server.register(
  async (rest) => {
    if (hasMiddleware) {
      rest.decorateRequest('user', null);
      rest.addHook('preHandler', async (request) => {
        request.user = await findUser();
      });
    }
    rest.get(
      '/pets/:petId',
      { schema: { params: getParameters, response: { 200: animal } } },
      handler(({ params }, reply) => {
        const stored = store.get((params as { petId: number }).petId) as Animal | undefined;
        if (stored !== undefined) return stored;
        void reply.code(404);
        return notFound;
      }),
    );
    rest.get(
      '/pets',
      { schema: { querystring: listParameters, response: { 200: { type: 'array', items: animal } } } },
      handler(({ query }) => listPets(query as Parameters<typeof listPets>[0]).records),
    );
    rest.post(
      '/pets',
      { schema: { body: newPet, response: { 201: animal } } },
      handler(({ body }, reply) => {
        void reply.code(201);
        return store.create(body as NewPet);
      }),
    );
  },
  { prefix: '/v1' },
);

await server.register(fastifyTRPCPlugin, {
  prefix: '/trpc',
  trpcOptions: { router: appRouter, createContext: rpcContext },
} satisfies FastifyTRPCPluginOptions<typeof appRouter>);

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
