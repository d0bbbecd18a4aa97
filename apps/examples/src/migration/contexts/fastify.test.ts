import { AsyncLocalStorage } from 'node:async_hooks';
import { fastifyTRPCPlugin, type CreateFastifyContextOptions } from '@trpc/server/adapters/fastify';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { createGateway } from 'trpc-gateway';
import { nodeHandler } from 'trpc-gateway/node';
import { expect, it } from 'vitest';
import { fetchOf, restContexts, routerOf, trpcContexts } from './contexts.ts';

declare module 'fastify' {
  interface FastifyRequest {
    user: string | undefined;
  }
}

/** A context that reads what Fastify and its hooks have added to the request. */
async function createContext({ req }: Pick<CreateFastifyContextOptions, 'req'>) {
  return { agent: req.headers['user-agent'], address: req.ip, protocol: req.protocol, user: req.user };
}
const appRouter = routerOf<Awaited<ReturnType<typeof createContext>>>();

const headers = {
  authorization: 'Bearer ada',
  'user-agent': 'Desk/1.0',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
};

/** Creates an app with the hook that the context needs. */
function createApp(): FastifyInstance {
  const app = fastify({ trustProxy: true });
  app.decorateRequest('user', undefined);
  app.addHook('onRequest', async (request) => {
    request.user = request.headers.authorization?.replace('Bearer ', '');
  });
  return app;
}

async function listen(app: FastifyInstance) {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return fetchOf(app.server);
}

it('a context of a Fastify request stays as it is if the request is stored for the time of the call', async () => {
  const before = createApp();
  await before.register(fastifyTRPCPlugin, {
    prefix: '/trpc',
    trpcOptions: { router: appRouter, createContext },
  });

  const requests = new AsyncLocalStorage<FastifyRequest>();
  const gateway = await createGateway({
    router: appRouter,
    createContext: () => createContext({ req: requests.getStore() as FastifyRequest }),
    document: { title: 'Desk', version: '1.0' },
  });
  const handler = nodeHandler(gateway);
  const after = createApp();
  await after.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/*', (request, reply) => {
      reply.hijack();
      requests.run(request, () => handler(request.raw, reply.raw));
    });
  });

  const contexts = await trpcContexts(headers, await listen(before));
  const fetch = await listen(after);
  expect(contexts[0]).toEqual({
    agent: 'Desk/1.0',
    address: '203.0.113.7',
    protocol: 'https',
    user: 'ada',
  });
  expect(await trpcContexts(headers, fetch)).toEqual(contexts);
  expect(await restContexts(headers, fetch)).toEqual(contexts);
});
