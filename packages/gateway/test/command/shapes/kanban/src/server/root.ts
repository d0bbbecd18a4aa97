import { createTRPCRouter } from '~/server/trpc';
import { boardRouter } from '~/server/routers/board';

export const appRouter = createTRPCRouter({ board: boardRouter });
export type AppRouter = typeof appRouter;
