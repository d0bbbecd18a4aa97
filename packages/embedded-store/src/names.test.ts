import { expect, it } from 'vitest';
import * as copy from './copy/index.ts';
import * as root from './index.ts';

it('the entry points of @petstore/embedded-store export exactly these names', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'backupFolder',
    'checkFolder',
    'openEmbeddedStore',
    'openEmbeddedTransfer',
    'verifiedTables',
    'verifyFolder',
  ]);
  expect(Object.keys(copy)).toEqual(['copyStore']);
});
