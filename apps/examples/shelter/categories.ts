import { createRecord, defineCollection, deleteRecord, getRecord, listRecords } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { isTrpcError } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { animals, Id, Text, Version } from './records.ts';
import { type Context, errors, IfVersion, locationBelow, page, procedure, staff } from './trpc.ts';

const NewCategory = z.object({ name: Text }).meta({ id: 'NewCategory' });
const Category = z.object({ id: Id, version: Version, name: Text }).meta({ id: 'Category' });

export const categories = defineCollection({
  name: 'categories',
  schema: Category,
  id: 'sequence',
  indexes: [{ field: 'name', unique: true }],
});

const tags = ['categories'];
const byId = z.object({ categoryId: Id });

export const categoryProcedures = {
  listCategories: procedure
    .meta({
      // `createAnimal` needs them all.
      mcp: { description: 'Lists the categories of animals.', maxResultBytes: 100_000 },
      openapi: {
        method: 'GET',
        path: '/categories',
        summary: 'List categories, in ascending order of id',
        tags,
        protect: false,
        pagination: { cursor: 'cursor' },
        errorResponses: errors.list,
      },
    })
    .input(z.object(page).prefault({}))
    .output(z.array(Category))
    .query((call) => listRecords(call, categories, call.input)),

  createCategory: staff
    .meta({
      idempotencyKey: 'optional',
      openapi: {
        method: 'POST',
        path: '/categories',
        summary: 'Add a category',
        tags,
        successStatus: 201,
        errorResponses: errors.create,
        headers: locationBelow('/categories'),
      },
    })
    .input(NewCategory)
    .output(Category)
    .mutation((call) => createRecord(call, categories, call.input)),

  getCategory: procedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/categories/{categoryId}',
        summary: 'Get a category',
        tags,
        protect: false,
        errorResponses: errors.get,
      },
    })
    .input(byId)
    .output(Category)
    .query((call) => getRecord(call, categories, call.input.categoryId)),

  deleteCategory: staff
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/categories/{categoryId}',
        summary: 'Delete a category',
        tags,
        errorResponses: errors.change,
      },
    })
    .input(byId.extend({ ifVersion: IfVersion }))
    .output(z.void())
    .mutation(async ({ ctx, input: { categoryId, ifVersion }, signal }) => {
      const referring = await listRecords({ ctx, signal }, animals, { limit: 1, where: { categoryId } });
      if (referring.length > 0) throw conflict('The category still has animals.');
      await deleteRecord({ ctx, signal }, categories, categoryId, ifVersion);
    }),
};

/**
 * Rejects a change of an animal whose category does not exist. The store changes one record at a time: a category that is
 * deleted at the same moment may leave an animal without one.
 */
export async function requireCategory(
  call: { readonly ctx: Context; readonly signal?: AbortSignal | undefined },
  categoryId: number | undefined,
): Promise<void> {
  if (categoryId === undefined) return;
  try {
    await getRecord(call, categories, categoryId);
  } catch (cause) {
    if (!isTrpcError(cause) || cause.code !== 'NOT_FOUND') throw cause;
    throw conflict('categoryId: there is no category with this id.');
  }
}

const conflict = (message: string) => new TRPCError({ code: 'CONFLICT', message });
