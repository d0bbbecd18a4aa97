import { z } from 'zod';
import { projectProcedure, router } from '@/src/server/trpc';

const projectId = z.string();
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);

export const appRouter = router({
  traces: router({
    all: projectProcedure
      .input(z.object({ projectId, page: z.number().default(0), filter: z.array(z.string()).nullish() }))
      .query(({ input, ctx }) => ({
        traces: [{ id: `t${input.page}`, at: new Date(0) }],
        user: ctx.session.user,
      })),
    annotate: projectProcedure
      .input(z.object({ projectId, metadata: json }))
      .mutation(({ input }) => input.metadata),
    counts: projectProcedure.input(z.object({ projectId })).query(() => new Map([['t0', 1n]])),
  }),
  scores: router({
    create: projectProcedure
      .input(
        z.discriminatedUnion('dataType', [
          z.object({ projectId, dataType: z.literal('NUMERIC'), value: z.number() }),
          z.object({ projectId, dataType: z.literal('CATEGORICAL'), stringValue: z.string() }),
        ]),
      )
      .mutation(({ input }) => input.dataType),
  }),
});
export type AppRouter = typeof appRouter;
