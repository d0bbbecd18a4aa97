import { z } from 'zod';
import { createTRPCRouter, protectedProcedure, publicProcedure } from '~/server/trpc';
import { Session } from '../auth';

const board = z.object({ publicId: z.string(), name: z.string(), createdAt: z.date() });
const find = (publicId: string) => ({ publicId, name: `Board ${publicId}`, createdAt: new Date(0) });

export const boardRouter = createTRPCRouter({
  all: protectedProcedure
    .meta({ openapi: { method: 'GET', path: '/boards', summary: 'All boards', tags: ['Boards'] } })
    .input(z.object({ limit: z.number().min(1).max(50).default(10) }))
    .output(z.array(board))
    .query(({ input }) => [find(String(input.limit))]),
  byId: publicProcedure
    .meta({ openapi: { method: 'GET', path: '/boards/{publicId}' } })
    .input(z.object({ publicId: z.string() }))
    .output(board)
    .query(({ input }) => find(input.publicId)),
  bySlug: publicProcedure
    .meta({ openapi: { method: 'GET', path: '/boards/{slug}' } })
    .input(z.object({ slug: z.string() }))
    .output(board)
    .query(({ input }) => find(input.slug)),
  rename: protectedProcedure
    .meta({ openapi: { method: 'PUT', path: '/boards/{publicId}' } })
    .input(z.object({ publicId: z.string(), name: z.string(), at: z.coerce.date().optional() }))
    .output(board)
    .mutation(({ input, ctx }) => ({ ...find(input.publicId), name: `${input.name} of ${ctx.user}` })),
  own: protectedProcedure.query(({ ctx }): Pick<Session, 'user'> => ({ user: ctx.user })),
});
