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

/** A client of the database that is kept connected, and replaced if it fails. It starts to connect at once. */
export class Connection<Opened> {
  readonly #options: ConnectionOptions<Opened>;
  readonly #stopped = new AbortController();
  readonly #clients = new Set<MongoClient>();
  readonly #first: Promise<void>;
  readonly #untilConnected: Promise<void>;
  #current: { readonly client: MongoClient; readonly opened: Opened } | undefined;
  #error: StoreError | undefined;
  #connecting: Promise<void> | undefined;

  constructor(options: ConnectionOptions<Opened>) {
    this.#options = options;
    this.#first = this.#connectOnce(options.firstClient);
    this.#untilConnected = this.#connectUntilStopped();
  }

  /**
   * Returns what `open` returned for the current client. Before the first connection it waits for the first attempt to connect. After a failed attempt it fails
   * immediately until one succeeds.
   */
  opened(): MaybePromise<Opened> {
    return this.#current?.opened ?? this.#afterFirst();
  }

  /**
   * Connects with another client if this one finds no server. The client should recover by itself, but the driver (7.8.0)
   * has a bug: a server check that begins after its socket was destroyed, and before the socket reports it, waits forever
   * for `drain`, and no other check follows. Observed in one of fifteen disconnections, with a polled server.
   */
  replaceClient(): void {
    if (this.#current !== undefined && !this.#stopped.signal.aborted) void this.#connectOnce();
  }

  /** Ends all attempts to connect. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Closes all clients. Call it after `stop`. */
  async close(): Promise<void> {
    await this.#untilConnected;
    await this.#connecting;
    await Promise.all(Array.from(this.#clients, (client) => this.#closeClient(client)));
  }

  async #afterFirst(): Promise<Opened> {
    await this.#first;
    if (this.#current !== undefined) return this.#current.opened;
    throw this.#error ?? storeError('closed', this.#options.label);
  }

  #connectOnce(client = this.#options.newClient()): Promise<void> {
    this.#connecting ??= this.#connect(client).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(client: MongoClient): Promise<void> {
    this.#clients.add(client);
    try {
      // Bounded by `serverSelectionTimeoutMS`.
      await client.connect();
      const opened = await this.#options.open(client);
      if (this.#current !== undefined) void this.#retire(this.#current.client);
      this.#current = { client, opened };
    } catch (error) {
      this.#error = toStoreError(error, this.#options.label, 'not-stored');
      await this.#closeClient(client);
    }
  }

  async #connectUntilStopped(): Promise<void> {
    const { signal } = this.#stopped;
    await this.#first;
    while (this.#current === undefined && !signal.aborted) {
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.#connectOnce();
    }
  }

  /** Closes a client when its operations have ended. */
  async #retire(client: MongoClient): Promise<void> {
    const { signal } = this.#stopped;
    await delay(this.#options.timeoutMs, undefined, { signal, ref: false }).catch(() => {});
    if (!signal.aborted) await this.#closeClient(client);
  }

  async #closeClient(client: MongoClient): Promise<void> {
    this.#clients.delete(client);
    // `close` ends sessions on the server and may wait for one that does not respond.
    await Promise.race([client.close(), delay(this.#options.timeoutMs, undefined, { ref: false })]);
  }
}
