import { z } from 'zod';
import { albumProcedure, noSuchAlbum } from './albumProcedure.ts';
import { Photo, photos } from './photos.ts';
import { procedure, router } from './trpc.ts';

const NewAlbum = z
  .object({
    title: z.string().min(1),
    year: z.int().min(1800).max(2200),
    tags: z.array(z.string()).default([]),
  })
  .meta({ id: 'NewAlbum' });
const Album = z
  .object({ id: z.int(), title: z.string(), year: z.int(), tags: z.array(z.string()), createdAt: z.date() })
  .meta({ id: 'Album' });
const Change = z
  .object({ what: z.enum(['changed', 'photo']), photo: Photo.optional() })
  .meta({ id: 'Change' });

const tags = ['albums'];

export const albums = router({
  photos,

  list: procedure
    .meta({ openapi: { method: 'GET', path: '/albums', tags, summary: 'List albums' } })
    .input(
      z
        .object({
          year: z.int().optional().meta({ description: 'Only albums of this year.' }),
          tag: z.array(z.string()).default([]).meta({ description: 'Only albums with all of these tags.' }),
          since: z
            .date()
            .optional()
            .meta({ description: 'Only albums that were added at this time or later.' }),
        })
        .prefault({}),
    )
    .output(z.array(Album))
    .query(({ ctx: { store }, input: { year, tag, since } }) =>
      store
        .list()
        .filter(
          (album) =>
            (year === undefined || album.year === year) &&
            (since === undefined || album.createdAt >= since) &&
            tag.every((each) => album.tags.includes(each)),
        ),
    ),

  create: procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/albums',
        tags,
        summary: 'Add an album',
        successStatus: 201,
        headers: {
          Location: {
            description: 'URL of the album.',
            value: ({ id }, { basePath }) => `${basePath}/albums/${id}`,
          },
        },
      },
    })
    .input(NewAlbum)
    .output(Album)
    .mutation(({ ctx: { store }, input }) => store.add(input)),

  get: albumProcedure
    .meta({ openapi: { method: 'GET', path: '/albums/{albumId}', tags, errorResponses: noSuchAlbum } })
    .output(Album)
    .query(({ ctx: { album } }) => album),

  replace: albumProcedure
    .meta({ openapi: { method: 'PUT', path: '/albums/{albumId}', tags, errorResponses: noSuchAlbum } })
    .input(NewAlbum)
    .output(Album)
    .mutation(({ ctx: { store, album }, input: { title, year, tags: newTags } }) =>
      store.change(album, { title, year, tags: newTags }),
    ),

  rename: albumProcedure
    .meta({ openapi: { method: 'PATCH', path: '/albums/{albumId}', tags, errorResponses: noSuchAlbum } })
    .input(z.object({ title: z.string().min(1) }))
    .output(Album)
    .mutation(({ ctx: { store, album }, input: { title } }) => store.change(album, { title })),

  remove: albumProcedure
    .meta({ openapi: { method: 'DELETE', path: '/albums/{albumId}', tags, errorResponses: noSuchAlbum } })
    .output(z.void())
    .mutation(({ ctx: { store, album } }) => store.remove(album)),

  changes: albumProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/albums/{albumId}/changes',
        tags,
        event: Change,
        errorResponses: noSuchAlbum,
      },
    })
    .subscription(({ ctx: { store, album }, signal = new AbortController().signal }) =>
      store.changes(album, signal),
    ),
});
