import { startFaultProxy, type TestDatabase } from '@petstore/testing/mongodb';
import { BSON, type Document, MongoClient } from 'mongodb';
import type { ListQuery } from '../../store.ts';
import { openMongodbStore } from '../index.ts';
import { type Animal, animals } from '../../../procedures/animals.ts';
import { collections } from '../../../collections.ts';

export interface ListPlan {
  /** The command that the store sends, without the fields that the driver adds. */
  readonly command: Document;
  /** The query plan of the server. */
  readonly plan: unknown;
}

/** OP_MSG: a header of 16 bytes, flags, and a section of kind 0 that contains the command. */
const OP_MSG = 2013;
const BODY = 21;

/** Lists animals, captures the command on the connection and lets the server explain it. */
export async function explainList(
  { uri, database }: TestDatabase,
  query: ListQuery<Animal, 'status'>,
): Promise<ListPlan> {
  const finds: Document[] = [];
  const proxy = await startFaultProxy(uri, (message) => {
    if (message.readInt32LE(12) !== OP_MSG || message.readUInt8(BODY - 1) !== 0) return;
    const command = BSON.deserialize(message.subarray(BODY, BODY + message.readInt32LE(BODY)), {
      promoteLongs: false,
    });
    if (command['find'] === 'animals') finds.push(command);
  });
  const store = await openMongodbStore({ uri: proxy.uri, database, collections });
  // The start sends a find for the greatest id.
  await store.ready();
  finds.length = 0;
  await store.collection(animals).list(query);
  await store.close();
  await proxy.close();
  const { lsid: _lsid, $db: _db, $clusterTime: _time, ...command } = finds[0] ?? {};

  const client = new MongoClient(uri);
  const { queryPlanner: plan } = await client.db(database).command({ explain: command });
  await client.close();
  return { command, plan };
}
