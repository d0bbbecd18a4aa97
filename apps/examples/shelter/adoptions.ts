import { createRecord, getRecord, listRecords, StoreError, updateRecord } from '@petstore/core';
import type { TRPCError } from '@trpc/server';
import { declareErrors, resyncErrors } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { byId } from './animals.ts';
import { allEvents } from './events.ts';
import { Adoption, adoptions, animals, Status, Text } from './records.ts';
import { type Context, errors, lastEventId, page, procedure } from './trpc.ts';

const adoptionErrors = declareErrors({
  NOT_AVAILABLE: {
    status: 409,
    message: 'The animal is reserved or adopted.',
    data: z.object({ status: Status }),
  },
});

/** For spreadsheets (RFC 4180). */
const csvOf = (list: readonly Adoption[]): string =>
  [['id', 'animalId', 'adopter', 'adoptedAt'], ...list.map(Object.values)]
    .map((row) => row.map((value) => `"${String(value).replaceAll('"', '""')}"`).join())
    .join('\r\n');

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
        errorResponses: errors.get,
      },
    })
    .errors(adoptionErrors)
    .input(byId.extend({ adopter: Text }))
    .output(Adoption)
    .mutation(async ({ ctx, input: { animalId, adopter }, signal }) => {
      // In this order: a process that is killed in between leaves an animal that cannot be adopted twice.
      const animal = await markAdopted(ctx, animalId, signal);
      const adoption = { animalId, adopter, adoptedAt: new Date().toISOString() };
      const stored = await createRecord({ ctx }, adoptions, adoption);
      await Promise.all([
        ctx.events.changed({ type: 'updated', animalId, animal }),
        ctx.events.adopted(stored),
      ]);
      return stored;
    }),

  listAdoptions: reader
    .meta({
      openapi: {
        method: 'GET',
        path: '/adoptions',
        summary: 'List adoptions, in ascending order of id',
        tags,
        produces: { 'application/json': true, 'text/csv': csvOf },
        pagination: { cursor: 'cursor' },
        errorResponses: errors.list,
      },
    })
    .input(z.object(page).prefault({}))
    .output(z.array(Adoption))
    .query((call) => listRecords(call, adoptions, call.input)),

  watchAdoptions: reader
    .meta({
      openapi: {
        method: 'GET',
        path: '/adoptions/events',
        summary: 'Watch adoptions, from now on or after `Last-Event-ID`; `0` is the oldest one that is kept',
        description: 'Adoptions are kept for 30 days.',
        tags,
        event: Adoption,
        errorResponses: errors.list,
      },
    })
    .input(z.object({ lastEventId }).prefault({}))
    .errors(resyncErrors)
    .subscription(({ ctx, input, signal }) =>
      ctx.events.adoptions.subscribe(allEvents, { lastEventId: input.lastEventId, signal }),
    ),
};

/** Marks an animal as adopted, if it is available. Of concurrent calls, one succeeds. */
async function markAdopted(ctx: Context, animalId: number, signal: AbortSignal | undefined) {
  for (;;) {
    const { status, version } = await getRecord({ ctx, signal }, animals, animalId);
    if (status !== 'available') throw adoptionErrors.NOT_AVAILABLE({ data: { status } });
    try {
      return await updateRecord({ ctx, signal }, animals, animalId, { status: 'adopted' }, version);
    } catch (error) {
      const { cause } = error as TRPCError;
      if (!(cause instanceof StoreError && cause.code === 'version-mismatch')) throw error;
    }
  }
}
