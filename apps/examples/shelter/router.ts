import type { CollectionDefinition } from '@petstore/core';
import { adoptionProcedures } from './adoptions.ts';
import { animalProcedures } from './animals.ts';
import { auditProcedures, audits } from './audit.ts';
import { categories, categoryProcedures } from './categories.ts';
import { photoProcedures } from './photos.ts';
import { adoptions, animals } from './records.ts';
import { router } from './trpc.ts';

/** The collections of the shelter's store. */
export const collections: readonly CollectionDefinition[] = [animals, categories, adoptions, audits];

/** The router of the shelter. A procedure's name is its path over tRPC and its `operationId` over REST. */
export const shelterRouter = router({
  ...animalProcedures,
  ...categoryProcedures,
  ...photoProcedures,
  ...adoptionProcedures,
  ...auditProcedures,
});
export type ShelterRouter = typeof shelterRouter;
