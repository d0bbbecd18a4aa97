import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { fingerprint } from '../fingerprint.ts';
import { Animal, NewPet, PetId, Pets, PetStatus } from '../schemas.ts';
import { storeCall } from '../storeCall.ts';
import { procedure } from '../trpc.ts';

const tags = ['pets'];
const unavailable = { 503: 'The service, or its store, cannot serve now; nothing was stored.' };

/** Lists animals in ascending order of id. */
export const listPets = procedure
  .meta({
    openapi: {
      method: 'GET',
      path: '/pets',
      summary: 'List animals',
      description:
        'Animals in ascending order of id, optionally of one status. A full page that has a successor links to it.',
      tags,
      successDescription: 'A page of animals.',
      errorResponses: unavailable,
      pagination: { cursor: 'cursor' },
    },
  })
  .input(
    z
      .object({
        limit: z
          .int()
          .min(1)
          .max(100)
          .default(20)
          .meta({ description: 'Maximum number of animals returned.' }),
        status: PetStatus.optional().meta({ description: 'Only animals of this status.' }),
        cursor: z
          .int()
          .optional()
          .meta({ description: 'Only animals whose id is greater.', format: 'int64' }),
      })
      // A tRPC client may leave the whole input out.
      .prefault({}),
  )
  .output(Pets)
  .query(({ ctx: { store, reply }, input, signal }) =>
    storeCall(
      () => store.list(input, { signal }),
      ({ animals, hasNext }) => {
        if (hasNext) reply.nextCursor = animals.at(-1)?.id;
        return animals;
      },
    ),
  );

/** Adds an animal under a new id. */
export const createPet = procedure
  .meta({
    openapi: {
      method: 'POST',
      path: '/pets',
      summary: 'Add an animal',
      description: 'Adds an animal. The service assigns its id.',
      tags,
      successStatus: 201,
      idempotencyKey: true,
      successDescription: 'The animal as it was added, with its id.',
      errorResponses: {
        ...unavailable,
        429: 'Too many calls, or more idempotency keys than one API key may use within a day.',
        504: 'The store did not answer: whether the animal was added is unknown.',
      },
      responseHeaders: {
        Location: {
          description: 'Where the animal is.',
          value: (animal: Animal, { basePath }) => `${basePath}/pets/${animal.id}`,
        },
      },
    },
  })
  .input(NewPet)
  .output(Animal)
  .mutation(({ ctx: { store, reply, caller = '', idempotencyKey }, input, signal }) => {
    if (idempotencyKey === undefined) {
      return storeCall(
        () => store.create(input, { signal }),
        (animal) => animal,
      );
    }
    const reservation = { caller, key: idempotencyKey, fingerprint: fingerprint(input) };
    return storeCall(
      () => store.createOnce(input, reservation, { signal }),
      ({ animal, isReplay }) => {
        if (isReplay) reply.replayed();
        return animal;
      },
    );
  });

/** Made once: to note where an error is made costs more than to look an animal up. */
const noSuchAnimal = new TRPCError({ code: 'NOT_FOUND', message: 'There is no animal with this id.' });

/** Fetches one animal. */
export const getPet = procedure
  .meta({
    openapi: {
      method: 'GET',
      path: '/pets/{petId}',
      summary: 'Get an animal',
      description: 'One animal by its identifier. Use the list of animals with its `status` filter instead.',
      tags,
      successDescription: 'The animal.',
      errorResponses: { ...unavailable, 404: 'The animal was not found.' },
      deprecation: {
        since: new Date('2026-11-20T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: '/pets',
        documentation: '/docs',
      },
    },
  })
  .input(z.object({ petId: PetId }))
  .output(Animal)
  .query(({ ctx: { store }, input: { petId }, signal }) =>
    storeCall(
      // An id beyond ±(2^53−1) is a well-formed int64 that no animal has: a double may not even hold it exactly.
      () => (Number.isSafeInteger(petId) ? store.get(petId, { signal }) : undefined),
      (animal) => {
        if (animal === undefined) throw noSuchAnimal;
        return animal;
      },
    ),
  );
