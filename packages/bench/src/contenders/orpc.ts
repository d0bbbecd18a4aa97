import { createServer, type ServerResponse } from 'node:http';
import { openapi } from '@orpc/openapi';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { COMMON_ERROR_STATUS_MAP, ORPCError, os } from '@orpc/server';
import { RPCHandler } from '@orpc/server/node';
import { BatchHandlerPlugin } from '@orpc/server/plugins';
import { Animal, NewPet, Pets } from '@petstore/core';
import { nowhere, unauthorized } from '../petStore/failure.ts';
import { listPets, store } from '../petStore/operations.ts';
import { after, findUser, hasMiddleware, resolver } from '../petStore/resolvers.ts';
import { GetInput, GetTexts, ListInput, ListTexts } from '../petStore/schemas.ts';

// oRPC on Node: REST by its OpenAPI handler, and calls in its own protocol by its RPC handler.

const base = hasMiddleware ? os.use(async ({ next }) => next({ context: { user: await findUser() } })) : os;

const requireAnimal = (animal: Animal | undefined): Animal => {
  if (animal === undefined) throw new ORPCError('NOT_FOUND', { message: 'There is no animal with this id.' });
  return animal;
};
const get = resolver(({ input }: { readonly input: { readonly petId: number } }) =>
  after(store.get(input.petId) as Animal | undefined, requireAnimal),
);
const list = resolver(
  ({ input }: { readonly input: Parameters<typeof listPets>[0] }) => listPets(input).records,
);
const createPet = base
  .meta(openapi({ method: 'POST', path: '/pets', successStatus: 201 }))
  .input(NewPet)
  .output(Animal)
  .handler(resolver(({ input }: { readonly input: NewPet }) => store.create(input)));

const statuses: Readonly<Record<string, number>> = COMMON_ERROR_STATUS_MAP;
const rest = new OpenAPIHandler(
  {
    getPet: base
      .meta(openapi({ method: 'GET', path: '/pets/{petId}' }))
      .input(GetTexts)
      .output(Animal)
      .handler(get),
    listPets: base
      .meta(openapi({ method: 'GET', path: '/pets' }))
      .input(ListTexts)
      .output(Pets)
      .handler(list),
    createPet,
  },
  { customErrorResponseBodyEncoder: ({ code, message }) => ({ code, message, status: statuses[code] }) },
);
const rpc = new RPCHandler(
  {
    getPet: base.input(GetInput).output(Animal).handler(get),
    listPets: base.input(ListInput).output(Pets).handler(list),
    createPet,
  },
  { plugins: [new BatchHandlerPlugin()] },
);

const authorization = `Bearer ${process.env['API_KEY']}`;

const sendError = (res: ServerResponse, error: { readonly status: number }) =>
  res.writeHead(error.status, { 'content-type': 'application/json' }).end(JSON.stringify(error));

createServer((req, res) => {
  if (req.headers.authorization !== authorization) {
    sendError(res, unauthorized);
    return;
  }
  const handled = req.url?.startsWith('/rpc/')
    ? rpc.handle(req, res, { prefix: '/rpc' })
    : rest.handle(req, res, { prefix: '/v1' });
  void handled.then(({ matched }) => {
    if (!matched) sendError(res, nowhere);
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
