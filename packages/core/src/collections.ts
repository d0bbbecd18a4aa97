import type { CollectionDefinition } from './store/collection.ts';
import { animals } from './procedures/animals.ts';

/** All collections of the pet store. The stores, `copy`, `backup` and `verify` use this list. */
export const collections: readonly CollectionDefinition[] = [animals];
