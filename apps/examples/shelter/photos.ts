import { getRecord } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { byId } from './animals.ts';
import { animals } from './records.ts';
import { errors, procedure, staff } from './trpc.ts';

const maxPhotoBytes = 10 * 2 ** 20;
const tags = ['photos'];
const path = '/animals/{animalId}/photo';

export const photoProcedures = {
  /** For clients of REST: over tRPC, a form reaches a procedure as it is, and bytes have no JSON. */
  setPhoto: staff
    .meta({
      // A phone may send it over a slow network, and it takes disk space.
      callTimeoutMs: 120_000,
      rateLimitCost: 10,
      openapi: {
        method: 'PUT',
        path,
        summary: 'Set the photo of an animal',
        tags,
        contentTypes: ['multipart/form-data'],
        upload: { maxSize: maxPhotoBytes + 65_536, maxFileSize: maxPhotoBytes, maxFiles: 1, spool: true },
        errorResponses: errors.get,
      },
    })
    .input(byId.extend({ photo: z.file().mime('image/jpeg') }))
    .output(z.void())
    .mutation(async ({ ctx, input: { animalId, photo }, signal }) => {
      await getRecord({ ctx, signal }, animals, animalId);
      await ctx.photos.put(animalId, photo);
    }),

  getPhoto: procedure
    .meta({
      mcp: { description: 'Returns the photo of an animal.' },
      openapi: {
        method: 'GET',
        path,
        summary: 'Get the photo of an animal',
        tags,
        protect: false,
        produces: 'image/jpeg',
        responseHeaders: z.object({ 'Last-Modified': z.string() }),
        errorResponses: { 404: 'The animal has no photo.' },
      },
    })
    .input(byId)
    .query(async ({ ctx, input: { animalId } }) => {
      const stored = await ctx.photos.get(animalId);
      if (stored === undefined) {
        throw new TRPCError({ code: 'NOT_FOUND', message: 'The animal has no photo.' });
      }
      ctx.response.header('last-modified', stored.changedAt.toUTCString());
      return stored.photo;
    }),
};
