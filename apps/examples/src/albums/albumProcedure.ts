import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { procedure } from './trpc.ts';

/** A path parameter: `{albumId}`. */
const AlbumId = z.int().positive();

/** A base procedure that loads the album of `albumId` into the context. */
export const albumProcedure = procedure
  .input(z.object({ albumId: AlbumId }))
  .use(({ ctx, input: { albumId }, next }) => {
    const album = ctx.store.get(albumId);
    if (album === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such album.' });
    return next({ ctx: { album } });
  });

/** The `errorResponses` of its REST metadata. */
export const noSuchAlbum = { 404: 'There is no such album.' };
