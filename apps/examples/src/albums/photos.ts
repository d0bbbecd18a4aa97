import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { albumProcedure, noSuchAlbum } from './albumProcedure.ts';
import { procedure, router } from './trpc.ts';

export const Photo = z.object({ id: z.int(), name: z.string(), bytes: z.int() }).meta({ id: 'Photo' });

const tags = ['photos'];

export const photos = router({
  list: albumProcedure
    .meta({
      openapi: { method: 'GET', path: '/albums/{albumId}/photos', tags, errorResponses: noSuchAlbum },
    })
    .output(z.array(Photo))
    .query(({ ctx: { store, album } }) => store.photos(album)),

  /** Over REST: a form with a file. */
  upload: albumProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/albums/{albumId}/photos',
        tags,
        contentTypes: ['multipart/form-data'],
        successStatus: 201,
        errorResponses: noSuchAlbum,
      },
    })
    .input(z.object({ file: z.file().max(100_000), name: z.string().min(1).optional() }))
    .output(Photo)
    .mutation(({ ctx: { store, album }, input: { file, name = file.name } }) =>
      store.addPhoto(album, name, file),
    ),

  /** Over tRPC: the same form as `FormData`. */
  send: procedure
    .input(z.instanceof(FormData).meta({ typescript: 'FormData' }))
    .output(Photo)
    .mutation(({ ctx: { store }, input }) => {
      const file = input.get('file');
      const album = store.get(Number(input.get('albumId')));
      if (!(file instanceof File) || album === undefined)
        throw new TRPCError({ code: 'BAD_REQUEST', message: 'The form needs a file and an albumId.' });
      return store.addPhoto(album, file.name, file);
    }),

  download: albumProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/albums/{albumId}/photos/{photoId}',
        tags,
        produces: 'image/png',
        errorResponses: { 404: 'There is no such album, or no such photo.' },
      },
    })
    .input(z.object({ photoId: z.int().positive() }))
    .output(z.instanceof(Uint8Array).meta({ typescript: 'Uint8Array' }))
    .query(async ({ ctx: { store, album }, input: { photoId } }) => {
      const file = store.file(album, photoId);
      if (file === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such photo.' });
      return new Uint8Array(await file.arrayBuffer());
    }),
});
