import { mongodbUri } from '@petstore/testing/mongodb';
import { describe } from 'vitest';
import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import { newDatabase } from '../testing/newDatabase.ts';

describe.skipIf(mongodbUri === undefined)('on MongoDB', () => {
  petStoreConformance('the process, from its sources, on MongoDB', {}, newDatabase);
});
