import { createRecord, deleteRecord, getRecord, listRecords, updateRecord } from '@petstore/core';
import { tracked } from '@trpc/server';
import { resyncErrors } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { requireCategory } from './categories.ts';
import { allEvents } from './events.ts';
import { Animal, AnimalChange, animalFields, animals, Id, NewAnimal, Status } from './records.ts';
import { errors, IfVersion, lastEventId, locationBelow, page, procedure, staff } from './trpc.ts';

/** Agents do not see the id of an event, so it is part of its data, too. */
const AnimalEvent = AnimalChange.extend({
  eventId: z.string().meta({ description: 'Send it as `lastEventId` to continue after this event.' }),
}).meta({ id: 'AnimalEvent' });

/** Whether a client that displays a category needs a change: also of an animal that may have left it. */
const concerns = (categoryId: number | undefined, { animal, type }: AnimalChange): boolean =>
  categoryId === undefined || type === 'moved' || type === 'deleted' || animal?.categoryId === categoryId;

const tags = ['animals'];
export const byId = z.object({ animalId: Id });

export const animalProcedures = {
  listAnimals: procedure
    .meta({
      mcp: { description: 'Lists animals, all or those of a category, in ascending order of id.' },
      openapi: {
        method: 'GET',
        path: '/animals',
        summary: 'List animals, in ascending order of id',
        tags,
        protect: false,
        pagination: { cursor: 'cursor' },
        errorResponses: errors.list,
      },
    })
    .input(z.object({ ...page, categoryId: Id.optional() }).prefault({}))
    .output(z.array(Animal))
    .query(({ ctx, input: { limit, cursor, categoryId }, signal }) =>
      listRecords({ ctx, signal }, animals, { limit, cursor, where: { categoryId } }),
    ),

  findAnimals: procedure
    .meta({
      protect: false,
      mcp: { description: 'Finds animals by their category or their status, in ascending order of id.' },
    })
    .input(
      z.discriminatedUnion('by', [
        z
          .object({ by: z.literal('category'), categoryId: Id, ...page })
          .describe('a category of listCategories'),
        z.object({ by: z.literal('status'), status: Status, ...page }),
      ]),
    )
    .output(z.array(Animal))
    .query(({ ctx, input, signal }) => {
      const { limit, cursor } = input;
      const where = input.by === 'category' ? { categoryId: input.categoryId } : { status: input.status };
      return listRecords({ ctx, signal }, animals, { limit, cursor, where });
    }),

  createAnimal: staff
    .meta({
      mcp: { description: 'Adds an animal to a category, which listCategories returns.' },
      idempotencyKey: 'optional',
      openapi: {
        method: 'POST',
        path: '/animals',
        summary: 'Add an animal',
        tags,
        successStatus: 201,
        errorResponses: errors.create,
        headers: locationBelow('/animals'),
      },
    })
    .input(NewAnimal)
    .output(Animal)
    .mutation(async ({ ctx, input, signal }) => {
      await requireCategory({ ctx, signal }, input.categoryId);
      const animal = await createRecord({ ctx, signal }, animals, input);
      await ctx.events.changed({ type: 'created', animalId: animal.id, animal });
      return animal;
    }),

  getAnimal: procedure
    .meta({
      mcp: { description: 'Returns an animal with its status.' },
      openapi: {
        method: 'GET',
        path: '/animals/{animalId}',
        summary: 'Get an animal',
        tags,
        protect: false,
        errorResponses: errors.get,
      },
    })
    .input(byId)
    .output(Animal)
    .query((call) => getRecord(call, animals, call.input.animalId)),

  updateAnimal: staff
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/animals/{animalId}',
        summary: 'Change an animal',
        tags,
        errorResponses: errors.change,
      },
    })
    .input(byId.extend({ ifVersion: IfVersion, ...z.object(animalFields).partial().shape }))
    .output(Animal)
    .mutation(async ({ ctx, input: { animalId, ifVersion, ...change }, signal }) => {
      await requireCategory({ ctx, signal }, change.categoryId);
      const animal = await updateRecord({ ctx, signal }, animals, animalId, change, ifVersion);
      const type = change.categoryId === undefined ? 'updated' : 'moved';
      await ctx.events.changed({ type, animalId, animal });
      return animal;
    }),

  deleteAnimal: staff
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/animals/{animalId}',
        summary: 'Delete an animal',
        tags,
        requestHeaders: z.object({
          'X-Reason': z.string().optional().meta({ description: 'The reason, for the audit log.' }),
        }),
        errorResponses: errors.change,
      },
    })
    .input(byId.extend({ ifVersion: IfVersion }))
    .output(z.void())
    .mutation(async ({ ctx, input: { animalId, ifVersion }, signal }) => {
      await deleteRecord({ ctx, signal }, animals, animalId, ifVersion);
      await Promise.all([ctx.events.changed({ type: 'deleted', animalId }), ctx.photos.remove(animalId)]);
    }),

  onAnimalChange: procedure
    .meta({
      mcp: {
        description:
          'Waits for the next change of an animal. To see one change after the other, set limit to 1, and lastEventId to the eventId of the change before. With lastEventId "0" it begins with the changes of the last hour.',
      },
      openapi: {
        method: 'GET',
        path: '/animals/events',
        summary: 'Watch changes of animals, from now on or after `Last-Event-ID`',
        description:
          'Changes are kept for an hour. Two changes of an animal that happen at the same time may arrive in either order: ignore one whose `version` is not greater. Nothing follows `deleted`.',
        tags,
        protect: false,
        event: AnimalEvent,
        errorResponses: errors.list,
      },
    })
    .input(
      z
        .object({
          categoryId: Id.optional().meta({
            description: 'Only changes of animals in this category, and of those that may have left it.',
          }),
          limit: z.int().min(1).max(1000).optional().meta({ description: 'Ends after so many changes.' }),
          lastEventId,
        })
        .prefault({}),
    )
    .errors(resyncErrors)
    .subscription(async function* ({
      ctx,
      input: { categoryId, limit = Infinity, lastEventId: after },
      signal,
    }) {
      let count = 0;
      for await (const [id, change] of await ctx.events.animals.subscribe(allEvents, {
        lastEventId: after,
        signal,
      })) {
        if (!concerns(categoryId, change)) continue;
        yield tracked(id, { ...change, eventId: id });
        count += 1;
        if (count === limit) return;
      }
    }),
};
