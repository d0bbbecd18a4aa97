import { expect, test } from 'vitest';
import { toReadError, toStoreError } from './errors.ts';

const einval = Object.assign(new Error('Invalid argument'), { code: 22 });

test('EINVAL of LMDB is fatal for a read of an open store, and unavailable when a folder is opened', () => {
  expect(toReadError(einval, '/data')).toMatchObject({ code: 'fatal', cause: einval });
  expect(toStoreError(einval, '/data')).toMatchObject({
    code: 'unavailable',
    message: 'The data folder /data cannot be used: EINVAL.',
  });
});
