import type { CollectionDefinition } from './store/collection.ts';
import { animals } from './procedures/animals.ts';

/** All collections of the pet store. The server opens stores with this list, also for `copy`, `backup` and `verify`. */
export const collections: readonly CollectionDefinition[] = [animals];
