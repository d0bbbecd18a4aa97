import type { CommandOperationOptions, MongoClient } from 'mongodb';
import { inTime } from '../inTime.ts';

/** How long an operation may take, in milliseconds. Requests stop waiting earlier. */
const operationTimeoutMs = 5000;

/** How long `close` waits for the database, in milliseconds. */
const closeTimeoutMs = 2000;

/**
 * Options of an operation. The signal ends it, and closes its connection, if the database does not respond. The driver's
 * types allow a signal for reads only, but 7.8.0 accepts it for writes too; `comment` makes the type assignable.
 */
type DeadlineOptions = Pick<CommandOperationOptions, 'comment'> & { readonly signal: AbortSignal };

/**
 * Runs operations with a deadline. If one finds no server or is late, it connects another client, at most every 5 s; other
 * operations fail then, too. Driver 7.8.0 does not always recover: a server check that begins after its socket was
 * destroyed, and before the socket reports it, waits forever, and no other check follows.
 */
export function openClients<Rows>(connect: () => MongoClient, rowsOf: (client: MongoClient) => Rows) {
  let client = connect();
  rejectOldDriver(client);
  let rows = rowsOf(client);
  let createdAt = performance.now();
  let isClosed = false;

  function replace(): void {
    if (isClosed || performance.now() - createdAt < operationTimeoutMs) return;
    void closeInTime(client).catch(() => {});
    client = connect();
    rows = rowsOf(client);
    createdAt = performance.now();
  }

  return {
    /** @throws the driver's errors, and an `AbortError` or `TimeoutError` if the database does not respond */
    async run<T>(operation: (rows: Rows, options: DeadlineOptions) => Promise<T>): Promise<T> {
      if (isClosed) throw new Error('The state is closed.');
      const used = client;
      const options = { signal: AbortSignal.timeout(operationTimeoutMs) };
      try {
        return await operation(rows, options);
      } catch (error) {
        const hasNoServer = error instanceof Error && error.name === 'MongoServerSelectionError';
        if ((options.signal.aborted || hasNoServer) && used === client) replace();
        throw error;
      }
    },
    /** Closes the client, which ends sessions on the server and may wait for one that does not respond. */
    async close(): Promise<void> {
      isClosed = true;
      await closeInTime(client);
    },
  };
}

/** Before 6.13, drivers ignore signals. Those of 7 have no version here, but a promise. @throws {Error} */
function rejectOldDriver(client: MongoClient): void {
  // Declared by version 6 only.
  const { metadata } = client.options as { readonly metadata?: { readonly driver?: { version: string } } };
  const found = metadata?.driver?.version ?? '7';
  if (found.localeCompare('6.13', 'en', { numeric: true }) >= 0) return;
  throw new Error(`The state needs \`mongodb\` 6.13 or newer, found ${found}. Run \`npm install mongodb\`.`);
}

const closeInTime = (client: MongoClient) => inTime(client.close(), closeTimeoutMs);
