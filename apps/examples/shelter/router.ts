import type { CollectionDefinition } from '@petstore/core';
import { animalProcedures, animals } from './animals.ts';
import type { Relation } from './relations.ts';
import { router } from './trpc.ts';

/** What the shelter stores. */
export const collections: readonly CollectionDefinition[] = [animals];

/** Which fields have the id of a record of another collection. */
export const relations: readonly Relation[] = [];

/** What the shelter serves. A procedure's name is its path over tRPC and its `operationId` over REST. */
export const shelterRouter = router({ ...animalProcedures });
export type ShelterRouter = typeof shelterRouter;
