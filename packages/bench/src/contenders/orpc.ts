import { createServer, type ServerResponse } from 'node:http';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { ORPCError, os } from '@orpc/server';
import { Animal, NewPet, Pets } from '@petstore/core';
import { nowhere, unauthorized } from '../petStore/failure.ts';
import { challenge, deprecationByName, nosniff, noStore, requestId } from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { nextLink, store } from '../petStore/operations.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';

// oRPC on Node, its procedures served by its own OpenAPI handler.

const procedure = os.$context<{ readonly res: ServerResponse }>();

const router = {
  getPet: procedure
    .route({ method: 'GET', path: '/pets/{petId}' })
    .input(GetTexts)
    .output(Animal)
    .handler(async ({ input, context: { res } }) => {
      const animal = await store.get(input.petId);
      for (const [name, value] of Object.entries(deprecationByName)) res.setHeader(name, value);
      if (animal === undefined)
        throw new ORPCError('NOT_FOUND', { message: 'There is no animal with this id.' });
      return animal;
    }),
  listPets: procedure
    .route({ method: 'GET', path: '/pets' })
    .input(ListTexts)
    .output(Pets)
    .handler(async ({ input, context: { res } }) => {
      const page = await store.list(input);
      const link = nextLink(input, page);
      if (link !== undefined) res.setHeader('link', link);
      return page.animals;
    }),
  createPet: procedure
    .route({ method: 'POST', path: '/pets', successStatus: 201 })
    .input(NewPet)
    .output(Animal)
    .handler(async ({ input, context: { res } }) => {
      const animal = await store.create(input);
      res.setHeader('location', `/v1/pets/${animal.id}`);
      return animal;
    }),
};

const handler = new OpenAPIHandler(router, {
  customErrorResponseBodyEncoder: ({ code, message, status }) => ({ code, message, status }),
});

const fail = (res: ServerResponse, { status }: { readonly status: number }, body: string) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(body);

createServer((req, res) => {
  const { headers } = req;
  res.setHeader('x-request-id', requestId(headers['x-request-id'] as string | undefined));
  res.setHeader('x-content-type-options', nosniff);
  res.setHeader('cache-control', noStore);
  if (!isAuthorized(headers.authorization)) {
    res.setHeader('www-authenticate', challenge);
    fail(res, unauthorized, JSON.stringify(unauthorized));
    return;
  }
  void handler.handle(req, res, { prefix: '/v1', context: { res } }).then(({ matched }) => {
    if (!matched) fail(res, nowhere, JSON.stringify(nowhere));
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
