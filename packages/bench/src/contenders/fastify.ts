import { NewPet, Pets, Animal, type ListQuery } from '@petstore/core';
import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify';
import { fastify, type FastifyReply } from 'fastify';
import type { z } from 'zod';
import { Failure, invalid, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { challenge, deprecationByName, nosniff, noStore, requestId } from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { nextLink, store } from '../petStore/operations.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';
import { appRouter } from '../petStore/servedRouter.ts';

// fastify 5 with zod as its validator and serializer, and tRPC's own plugin for it.

const server = fastify({
  logger: false,
  routerOptions: { maxParamLength: 10_000 },
  genReqId: (request) => requestId(request.headers['x-request-id'] as string | undefined),
});

server.setValidatorCompiler<z.ZodType>(({ schema }) => (data) => {
  const { success, data: value, error } = schema.safeParse(data);
  return success ? { value } : { error };
});
server.setSerializerCompiler<z.ZodType>(
  ({ schema }) =>
    (data) =>
      JSON.stringify(schema.parse(data)),
);

const fail = (reply: FastifyReply, failure: Failure) => {
  // Not the serializer of the answer that did not come about.
  void reply.code(failure.status).header('content-type', 'application/json').serializer(JSON.stringify);
  return reply.send(failure);
};

server.addHook('onRequest', async (request, reply) => {
  void reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', nosniff)
    .header('cache-control', noStore);
  if (isAuthorized(request.headers.authorization)) return;
  void reply.header('www-authenticate', challenge);
  await fail(reply, unauthorized);
});
server.setNotFoundHandler((_request, reply) => fail(reply, nowhere));
server.setErrorHandler<Error & { readonly issues?: z.core.$ZodIssue[] }>((error, _request, reply) =>
  fail(
    reply,
    error.issues
      ? invalid({ issues: error.issues })
      : new Failure('BAD_REQUEST', 400, error.message, -32_600),
  ),
);

server.get(
  '/v1/pets/:petId',
  { schema: { params: GetTexts, response: { 200: Animal } } },
  async (request, reply) => {
    const animal = await store.get((request.params as z.output<typeof GetTexts>).petId);
    void reply.headers(deprecationByName);
    if (animal === undefined) return fail(reply, notFound);
    // fastify adds a charset to what it takes for JSON itself.
    void reply.header('content-type', 'application/json');
    return animal;
  },
);

server.get(
  '/v1/pets',
  { schema: { querystring: ListTexts, response: { 200: Pets } } },
  async (request, reply) => {
    const query = request.query as ListQuery;
    const page = await store.list(query);
    const link = nextLink(query, page);
    if (link !== undefined) void reply.header('link', link);
    void reply.header('content-type', 'application/json');
    return page.animals;
  },
);

server.post('/v1/pets', { schema: { body: NewPet, response: { 201: Animal } } }, async (request, reply) => {
  const animal = await store.create(request.body as NewPet);
  void reply.code(201).header('location', `/v1/pets/${animal.id}`).header('content-type', 'application/json');
  return animal;
});

await server.register(fastifyTRPCPlugin, {
  prefix: '/trpc',
  trpcOptions: { router: appRouter, createContext: rpcContext },
} satisfies FastifyTRPCPluginOptions<typeof appRouter>);

await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
