import { Elysia, t } from 'elysia';
import { malformed, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { findPet, listPets, store } from '../petStore/store.ts';

// Elysia on Bun, with its own schemas.

const petStatus = t.Optional(t.Union([t.Literal('available'), t.Literal('pending'), t.Literal('sold')]));
const get = { params: t.Object({ petId: t.Integer() }) };
const list = {
  query: t.Object({
    limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
    status: petStatus,
    cursor: t.Optional(t.Integer()),
  }),
};
const create = {
  body: t.Object({ name: t.String({ maxLength: 1000 }), categoryId: t.Integer(), status: petStatus }),
};

// Elysia looks at the source text of a handler for what of the request it reads, so no handler is wrapped here.
const authorization = `Bearer ${process.env['API_KEY']}`;
// Plain objects: Elysia does not send the fields of an instance of a class.
const missing = structuredClone(notFound);
const unknownKey = structuredClone(unauthorized);

new Elysia()
  .onError(({ code, status }) =>
    code === 'NOT_FOUND' ? status(404, structuredClone(nowhere)) : status(400, structuredClone(malformed)),
  )
  .onBeforeHandle(({ headers, status }) =>
    headers['authorization'] === authorization ? undefined : status(401, unknownKey),
  )
  .get('/v1/pets/:petId', ({ params: { petId }, status }) => findPet(petId) ?? status(404, missing), get)
  .get('/v1/pets', ({ query }) => listPets(query).records, list)
  .post('/v1/pets', async ({ body, status }) => status(201, await store.create(body)), create)
  .listen({ hostname: '127.0.0.1', port: Number(process.env['PORT']) });
