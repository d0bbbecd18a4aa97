import { expect, test } from 'vitest';
import { toReadError, toStoreError } from './errors.ts';

const einval = Object.assign(new Error('Invalid argument'), { code: 22 });

test('an error without permissions names the file of the data folder, if it has one', () => {
  const eacces = (path: string) => Object.assign(new Error('EACCES'), { code: 'EACCES', path });
  expect(toStoreError(eacces('/data/petstore.mdb-lock'), '/data').message).toContain(
    '/data (EACCES: petstore.mdb-lock).',
  );
  expect(toStoreError(eacces('/data'), '/data').message).toContain('/data (EACCES).');
});

test('EINVAL of LMDB is fatal for a read of an open store, and unavailable when a folder is opened', () => {
  expect(toReadError(einval, '/data')).toMatchObject({ code: 'fatal', cause: einval });
  expect(toStoreError(einval, '/data')).toMatchObject({
    code: 'unavailable',
    message: 'The data folder /data cannot be used: EINVAL.',
  });
});
