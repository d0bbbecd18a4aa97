import { createServer, type ServerResponse } from 'node:http';
import { openapi } from '@orpc/openapi';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { ORPCError, os } from '@orpc/server';
import { RPCHandler } from '@orpc/server/node';
import { BatchHandlerPlugin } from '@orpc/server/plugins';
import { Animal, NewPet, Pets } from '@petstore/core';
import { nowhere, unauthorized } from '../petStore/failure.ts';
import { GetInput, GetTexts, ListTexts } from '../petStore/schemas.ts';
import { findPet, listPets, store } from '../petStore/store.ts';

// oRPC on Node: REST by its OpenAPI handler, and calls in its own protocol by its RPC handler.

function get({ input: { petId } }: { readonly input: { readonly petId: number } }): Animal {
  const animal = findPet(petId);
  if (animal !== undefined) return animal;
  throw new ORPCError('NOT_FOUND', { message: 'There is no animal with this id.' });
}

const rest = new OpenAPIHandler({
  getPet: os
    .meta(openapi({ method: 'GET', path: '/pets/{petId}' }))
    .input(GetTexts)
    .output(Animal)
    .handler(get),
  listPets: os
    .meta(openapi({ method: 'GET', path: '/pets' }))
    .input(ListTexts)
    .output(Pets)
    .handler(({ input }) => listPets(input).records),
  createPet: os
    .meta(openapi({ method: 'POST', path: '/pets', successStatus: 201 }))
    .input(NewPet)
    .output(Animal)
    .handler(({ input }) => store.create(input)),
});
const rpc = new RPCHandler(
  { getPet: os.input(GetInput).output(Animal).handler(get) },
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
