import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { toCommitError, toReadError, toStoreError } from './errors.ts';

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

// EFBIG: a limit on the file size, such as that of prlimit(1).
test.each(['ENOSPC', 'EFBIG'] as const)('%s of a write is full', async (name) => {
  const error = Object.assign(new Error(name), { code: constants.errno[name] });
  expect(await toCommitError(error, '/data')).toMatchObject({ code: 'full', cause: error });
});
