import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, test } from 'vitest';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';

test.skipIf(mongodbUri === undefined)('ready rejects a database of another format with the fix', async () => {
  const { connect, open } = await proxiedDatabase();
  await (await open()).ready();
  await connect()
    .collection('meta')
    .updateOne({}, { $set: { format: 2 } });
  const store = await open();
  await expect(async () => store.ready()).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringMatching(
      /^The data in the database .* has format 2, but this version supports format 1\. Start the version that created it, or choose another database\.$/,
    ),
  });
});
