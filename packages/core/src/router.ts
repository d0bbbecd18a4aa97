import { createPet, getPet, listPets } from './procedures/animals.ts';
import { router } from './trpc.ts';

/** The pet store. A procedure's name is its path over tRPC and its `operationId` over REST. */
export const appRouter = router({ listPets, createPet, getPet });
export type AppRouter = typeof appRouter;
