import type { CollectionDefinition } from '@petstore/core';
import { animalProcedures, animals } from './animals.ts';
import { categories, categoryProcedures } from './categories.ts';
import type { Relation } from './relations.ts';
import { router } from './trpc.ts';

/** What the shelter stores. */
export const collections: readonly CollectionDefinition[] = [animals, categories];

/** Which fields have the id of a record of another collection. */
export const relations: readonly Relation[] = [{ from: animals, field: 'categoryId', to: categories }];

/** What the shelter serves. A procedure's name is its path over tRPC and its `operationId` over REST. */
export const shelterRouter = router({ ...animalProcedures, ...categoryProcedures });
export type ShelterRouter = typeof shelterRouter;
