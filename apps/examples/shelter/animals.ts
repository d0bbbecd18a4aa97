import {
  createRecord,
  defineCollection,
  deleteRecord,
  getRecord,
  listRecords,
  updateRecord,
} from '@petstore/core';
import { z } from 'zod';
import { errors, Id, IfVersion, locationBelow, page, procedure, staff, Text, Version } from './trpc.ts';

export const Status = z.enum(['available', 'reserved', 'adopted']).meta({ id: 'Status' });
const fields = { name: Text, categoryId: Id, status: Status };
const NewAnimal = z.object({ ...fields, status: Status.default('available') }).meta({ id: 'NewAnimal' });
const Animal = z.object({ id: Id, version: Version, ...fields }).meta({ id: 'Animal' });

export const animals = defineCollection({
  name: 'animals',
  schema: Animal,
  id: 'sequence',
  indexes: ['categoryId', 'status'],
});

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
      listRecords(ctx, animals, { limit, cursor, where: { categoryId } }, { signal }),
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
      return listRecords(ctx, animals, { limit, cursor, where }, { signal });
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
    .mutation(({ ctx, input, signal }) => createRecord(ctx, animals, input, { signal })),

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
    .query(({ ctx, input: { animalId }, signal }) => getRecord(ctx, animals, animalId, { signal })),

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
    .input(byId.extend({ ifVersion: IfVersion, ...z.object(fields).partial().shape }))
    .output(Animal)
    .mutation(({ ctx, input: { animalId, ifVersion, ...change }, signal }) =>
      updateRecord(ctx, animals, animalId, change, { ifVersion, signal }),
    ),

  deleteAnimal: staff
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/animals/{animalId}',
        summary: 'Delete an animal',
        tags,
        errorResponses: errors.change,
      },
    })
    .input(byId.extend({ ifVersion: IfVersion }))
    .output(z.void())
    .mutation(async ({ ctx, input: { animalId, ifVersion }, signal }) => {
      await deleteRecord(ctx, animals, animalId, { ifVersion, signal });
      await ctx.photos.remove(animalId);
    }),
};
