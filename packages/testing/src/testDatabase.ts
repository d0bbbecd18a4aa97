import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';

/** The tests' server. Without `MONGODB_URI` they are skipped, or fail with `REQUIRE_MONGODB` (`.ci/run`). */
export const mongodbUri: string | undefined = process.env['MONGODB_URI'];
if (mongodbUri === undefined && process.env['REQUIRE_MONGODB'] !== undefined) {
  throw new Error(
    'MONGODB_URI is not set, and REQUIRE_MONGODB says that the tests of the MongoDB store must run.',
  );
}

/** A database of its own for a test, with a name that no other test has. MongoDB creates it with the first document. */
export function testDatabase() {
  if (mongodbUri === undefined) throw new Error('MONGODB_URI is not set.');
  const uri = mongodbUri;
  const database = `petstore-test-${randomUUID()}`;
  return {
    uri,
    database,
    drop: async () => {
      const client = new MongoClient(uri);
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}
