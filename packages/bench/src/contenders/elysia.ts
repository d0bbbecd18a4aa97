import { Animal, NewPet, type Page, Pets } from '@petstore/core';
import { Elysia } from 'elysia';
import { type Failure, invalid, malformed, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { challenge, deprecationByName, nosniff, noStore, requestId } from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { nextLink, store } from '../petStore/operations.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';

// Elysia on Bun, with zod as its validator (Standard Schema).

type Headers = Record<string, string | number | string[]>;

const fail = (failure: Failure, headers: Headers) => {
  const all = new globalThis.Headers({ 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) all.append(name, String(each));
  }
  return new Response(JSON.stringify(failure), { status: failure.status, headers: all });
};

new Elysia({ normalize: false })
  .onRequest(({ request, set }) => {
    const id = requestId(request.headers.get('x-request-id'));
    set.headers['x-request-id'] = id;
    set.headers['x-content-type-options'] = nosniff;
    set.headers['cache-control'] = noStore;
    if (isAuthorized(request.headers.get('authorization'))) return undefined;
    set.headers['www-authenticate'] = challenge;
    return fail(unauthorized, set.headers);
  })
  .onError(({ code, error, set }) => {
    const headers = set.headers as Headers;
    if (code === 'NOT_FOUND') return fail(nowhere, headers);
    return code === 'VALIDATION'
      ? fail(invalid({ issues: error.all as never }), headers)
      : fail(malformed, headers);
  })
  .get(
    '/v1/pets/:petId',
    ({ params, set }) => {
      const animal = store.get(params.petId) as Animal | undefined;
      Object.assign(set.headers, deprecationByName);
      return animal ?? fail(notFound, set.headers);
    },
    { params: GetTexts, response: Animal },
  )
  .get(
    '/v1/pets',
    ({ query, set }) => {
      const page = store.list(query) as Page;
      const link = nextLink(query, page);
      if (link !== undefined) set.headers['link'] = link;
      return page.animals;
    },
    { query: ListTexts, response: Pets },
  )
  .post(
    '/v1/pets',
    async ({ body, set }) => {
      const animal = await store.create(body);
      set.status = 201;
      set.headers['location'] = `/v1/pets/${animal.id}`;
      return animal;
    },
    { body: NewPet, response: { 201: Animal } },
  )
  .listen({ hostname: '127.0.0.1', port: Number(process.env['PORT']) });
