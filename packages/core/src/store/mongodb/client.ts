import { MongoClient } from 'mongodb';
import { StoreError } from '../storeError.ts';
import type { DatabaseLabel } from './errors.ts';

/** Creates an unconnected client with concerns and timeouts. @throws {StoreError} if the URI is invalid */
export function createClient(uri: string, operationTimeoutMs: number, maxPoolSize: number): MongoClient {
  // Server selection leaves time for the operation itself. It takes less than the lookup of an API key may take, so that the
  // lookup fails with the selection error and not with its own timeout.
  const waitMs = Math.ceil(operationTimeoutMs * 0.4);
  try {
    return new MongoClient(uri, {
      appName: 'petstore',
      maxPoolSize,
      // Acknowledged writes are on the disks of a majority. Reads return such data only, and see all acknowledged writes.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: operationTimeoutMs },
      // Separately, because `journal` in the URI would override the write concern's.
      journal: true,
      readPreference: 'primary',
      // Rows are read with 64-bit integers as numbers.
      promoteLongs: true,
      promoteValues: true,
      useBigInt64: false,
      raw: false,
      serverSelectionTimeoutMS: waitMs,
      // Also the timeout of server checks: a shorter one would end calls before their deadline.
      connectTimeoutMS: operationTimeoutMs,
      // 10 s by default: it would take that long to notice that the database is available again.
      heartbeatFrequencyMS: 2000,
      // 500 ms by default: after each lost connection all calls would wait that long.
      minHeartbeatFrequencyMS: 100,
      // Not set: `waitQueueTimeoutMS`, because an operation's deadline ends its wait for a connection; `retryReads` and
      // `retryWrites`, which are on by default and which the URI may disable for servers other than MongoDB.
    });
  } catch (error) {
    // The driver's message may contain the whole URI, so it is shown only for a URI without secrets.
    const why =
      error instanceof Error && !/@|password|properties/i.test(uri)
        ? error.message.replace(/\.$/, '')
        : 'it must have the form mongodb://user:password@host:port/?options, with each of : / ? # [ ] @ % in the user and the password percent-encoded, and only options that the driver knows';
    throw new StoreError('unavailable', `The URI of the database is invalid: ${why}.`);
  }
}

/** Returns how messages name the database of a client. */
export function databaseLabel(client: MongoClient, database: string): DatabaseLabel {
  const { hosts, srvHost, credentials, proxyUsername, proxyPassword, passphrase } = client.options;
  const name = `${database} at ${srvHost ?? hosts.map(String).join(', ')}`;
  const { username, password } = credentials ?? {};
  const secrets = [username, password, proxyUsername, proxyPassword, passphrase].flatMap((secret) =>
    secret === undefined || secret === '' ? [] : [secret, encodeURIComponent(secret)],
  );
  // A user name that is also the name of the database or a host is not a secret.
  return { name, secrets: secrets.filter((secret) => !name.includes(secret)) };
}
