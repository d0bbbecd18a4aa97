import type { CollectionDefinition } from './store/collection.ts';
import { animals } from './procedures/animals.ts';

/** What the pet store keeps. The stores, `copy`, `backup` and `verify` go through this list. */
export const collections: readonly CollectionDefinition[] = [animals];
