import { createRecord, defineCollection, getRecord, listRecords, updateRecord } from '@petstore/core';
import { declareErrors } from 'trpc-gateway/procedures';
import { tracked } from '@trpc/server';
import { z } from 'zod';
import { animals, byId, Status } from './animals.ts';
import { errors, Id, page, procedure, Text } from './trpc.ts';

const Adoption = z
  .object({ id: Id, animalId: Id, adopter: Text, adoptedAt: z.iso.datetime() })
  .meta({ id: 'Adoption' });

export const adoptions = defineCollection({ name: 'adoptions', schema: Adoption, id: 'sequence' });

const adoptionErrors = declareErrors({
  NOT_AVAILABLE: {
    status: 409,
    message: 'The animal is reserved or adopted.',
    data: z.object({ status: Status }),
  },
});

const tags = ['adoptions'];
const reader = procedure.meta({ scopes: ['adoptions:read'] });

export const adoptionProcedures = {
  adoptAnimal: procedure
    .meta({
      scopes: ['adoptions:write'],
      idempotencyKey: 'optional',
      mcp: {
        description: 'Records who adopts an available animal. This cannot be undone.',
        annotations: { destructiveHint: true },
      },
      openapi: {
        method: 'POST',
        path: '/animals/{animalId}/adoption',
        summary: 'Record the adoption of an available animal',
        tags,
        successStatus: 201,
        errorResponses: { ...errors.get, 409: 'The animal was changed at the same time.' },
      },
    })
    .errors(adoptionErrors)
    .input(byId.extend({ adopter: Text }))
    .output(Adoption)
    .mutation(({ ctx, input: { animalId, adopter }, signal }) =>
      ctx.adoptionFeed.add(async () => {
        // A call that ran out of time while it waited for its turn must not run.
        signal?.throwIfAborted();
        const { status, version } = await getRecord(ctx, animals, animalId, { signal });
        if (status !== 'available') throw adoptionErrors.NOT_AVAILABLE({ data: { status } });
        // In this order: a process that is killed in between leaves an animal that cannot be adopted twice.
        await updateRecord(ctx, animals, animalId, { status: 'adopted' }, { ifVersion: version, signal });
        const adoption = { animalId, adopter, adoptedAt: new Date().toISOString() };
        return createRecord(ctx, adoptions, adoption, {});
      }),
    ),

  listAdoptions: reader
    .meta({
      openapi: {
        method: 'GET',
        path: '/adoptions',
        summary: 'List adoptions, in ascending order of id',
        tags,
        pagination: { cursor: 'cursor' },
        errorResponses: errors.list,
      },
    })
    .input(z.object(page).prefault({}))
    .output(z.array(Adoption))
    .query(({ ctx, input, signal }) => listRecords(ctx, adoptions, input, { signal })),

  watchAdoptions: reader
    .meta({
      openapi: {
        method: 'GET',
        path: '/adoptions/events',
        summary: 'Watch adoptions, from the first one or from the one after `Last-Event-ID`',
        tags,
        event: Adoption,
        errorResponses: errors.list,
      },
    })
    .input(
      z
        .object({
          lastEventId: z
            .string()
            .regex(/^\d{1,15}$/)
            .optional(),
        })
        .prefault({}),
    )
    .subscription(async function* ({ ctx, input, signal = new AbortController().signal }) {
      let cursor = Number(input.lastEventId ?? 0);
      for await (const _ of ctx.adoptionFeed.changes(signal)) {
        for (;;) {
          const adopted = await listRecords(ctx, adoptions, { limit: 100, cursor }, { signal });
          if (adopted.length === 0) break;
          for (const adoption of adopted) {
            yield tracked(String(adoption.id), adoption);
            cursor = adoption.id;
          }
        }
      }
    }),
};
