import { setTimeout as delay } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import type { MaybePromise } from '../store.ts';
import type { StoreError } from '../storeError.ts';
import { type DatabaseLabel, storeError, toStoreError } from './errors.ts';

/** Time between two attempts to connect, in milliseconds. */
const RETRY_MS = 500;

export interface ConnectionOptions<Opened> {
  readonly firstClient: MongoClient;
  readonly newClient: () => MongoClient;
  /** Prepares the database. Called with each client that has connected. */
  readonly open: (client: MongoClient) => Promise<Opened>;
  /** How long a replaced client serves its operations, and a client may take to close, in milliseconds. */
  readonly timeoutMs: number;
  readonly label: DatabaseLabel;
}

/** Keeps a client of the database connected, and replaces it if it fails. It starts to connect at once. */
export function openConnection<Opened>({
  firstClient,
  newClient,
  open,
  timeoutMs,
  label,
}: ConnectionOptions<Opened>) {
  const stopped = new AbortController();
  const { signal } = stopped;
  const clients = new Set<MongoClient>();
  let current: { readonly client: MongoClient; readonly opened: Opened } | undefined;
  let lastError: StoreError | undefined;
  let connecting: Promise<void> | undefined;

  async function afterFirst(): Promise<Opened> {
    await first;
    if (current !== undefined) return current.opened;
    throw lastError ?? storeError('closed', label);
  }

  function connectOnce(client = newClient()): Promise<void> {
    connecting ??= connect(client).finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function connect(client: MongoClient): Promise<void> {
    clients.add(client);
    try {
      // Bounded by `serverSelectionTimeoutMS`.
      await client.connect();
      const opened = await open(client);
      if (current !== undefined) void retire(current.client);
      current = { client, opened };
    } catch (error) {
      lastError = toStoreError(error, label, 'not-stored');
      await closeClient(client);
    }
  }

  async function connectUntilStopped(): Promise<void> {
    await first;
    for (;;) {
      if (current !== undefined || signal.aborted) return;
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await connectOnce();
    }
  }

  /** Closes a client when its operations have ended. */
  async function retire(client: MongoClient): Promise<void> {
    await delay(timeoutMs, undefined, { signal, ref: false }).catch(() => {});
    if (!signal.aborted) await closeClient(client);
  }

  async function closeClient(client: MongoClient): Promise<void> {
    clients.delete(client);
    // `close` ends sessions on the server and may wait for one that does not respond.
    await Promise.race([client.close(), delay(timeoutMs, undefined, { ref: false })]);
  }

  const first = connectOnce(firstClient);
  const untilConnected = connectUntilStopped();

  return {
    /**
     * Returns what `open` returned for the current client. Before the first connection it waits for the first attempt to
     * connect. After a failed attempt it fails immediately until one succeeds.
     */
    opened: (): MaybePromise<Opened> => current?.opened ?? afterFirst(),

    /**
     * Connects with another client if this one finds no server. The client should recover by itself, but the driver (7.8.0)
     * has a bug: a server check that begins after its socket was destroyed, and before the socket reports it, waits forever
     * for `drain`, and no other check follows. Observed in one of fifteen disconnections, with a polled server.
     */
    replaceClient(): void {
      if (current !== undefined && !signal.aborted) void connectOnce();
    },

    /** Ends all attempts to connect. */
    stop: (): void => stopped.abort(),

    /** Closes all clients. Call it after `stop`. */
    async close(): Promise<void> {
      await untilConnected;
      await connecting;
      await Promise.all(Array.from(clients, closeClient));
    },
  };
}
