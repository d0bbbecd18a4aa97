import { createPet, getPet, listPets } from './procedures/animals.ts';
import { router } from './trpc.ts';

/** Router of the pet store. A procedure's name is its path in tRPC and its `operationId` in REST. */
export const appRouter = router({ listPets, createPet, getPet });
export type AppRouter = typeof appRouter;
