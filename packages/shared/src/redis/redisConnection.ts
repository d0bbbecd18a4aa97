import { inTime } from '../inTime.ts';

/** What is used of a client of `redis` (node-redis): `createClient`, `createSentinel` and `createCluster` return one. */
export interface RedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  /** Closes the connections after the replies to all commands. */
  close(): Promise<unknown>;
  /** Closes the connections, and rejects all commands. */
  destroy(): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  eval(script: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
}

/** How long a command may take, in milliseconds. Requests stop waiting earlier. */
const commandTimeoutMs = 5000;

/** How long a client that does not connect again is kept, in milliseconds, before another one connects. */
const givenUpMs = 1000;

/** How long `close` waits for replies, in milliseconds. */
const closeTimeoutMs = 2000;

/**
 * Runs commands with a deadline, and connects with another client after a command that exceeded it: `redis` 6.3.1 never rejects
 * a command that was sent and is not answered. Other commands of the client before fail then, too.
 */
export class RedisConnection<Client extends RedisClient = RedisClient> {
  readonly #connect: () => Client;
  #client: Client;
  /** A client of a cluster rejects commands until it is connected. */
  #connecting: Promise<unknown> = Promise.resolve();
  #createdAt = 0;
  #lastError: Error | undefined = undefined;
  #isClosed = false;

  /** @param connect creates a client that is not connected yet */
  constructor(connect: () => Client) {
    this.#connect = connect;
    this.#client = this.#open();
  }

  /** Runs a script, sent as text each time: a reply that a server lacks it would reorder commands. */
  eval<Reply>(script: string, keys: string[], args: readonly (number | string)[]): Promise<Reply> {
    const command = (client: Client) => client.eval(script, { keys, arguments: args.map(String) });
    // The caller knows what its script returns.
    return this.run(command) as Promise<Reply>;
  }

  /** @throws the client's errors, and an error if the server does not respond in time */
  async run<T>(command: (client: Client) => Promise<T>, timeoutMs = commandTimeoutMs): Promise<T> {
    if (this.#isClosed) throw new Error('The connection to Redis is closed.');
    if (!this.#client.isOpen && performance.now() - this.#createdAt >= givenUpMs) this.#replace(this.#client);
    const client = this.#client;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new Error(`Redis has not responded for ${timeoutMs / 1000} s.`, { cause: this.#lastError }));
      this.#replace(client);
    }, timeoutMs);
    try {
      return await Promise.race([this.#connecting.then(() => command(client)), promise]);
    } catch (error) {
      if (client === this.#client || !isDisconnect(error)) throw error;
      throw new Error('Redis had not responded, and its connection was replaced.', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects later commands, waits for replies for at most 2 s, and disconnects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    await inTime(
      client.close().catch(() => {}),
      closeTimeoutMs,
    );
    void destroy(client);
  }

  /** Disconnects, and rejects all commands. */
  disconnect(): void {
    this.#isClosed = true;
    void destroy(this.#client);
  }

  #replace(client: Client): void {
    if (this.#isClosed || client !== this.#client) return;
    this.#client = this.#open();
    void destroy(client);
  }

  #open(): Client {
    const client = this.#connect();
    if (typeof client.close !== 'function') {
      throw new Error(
        '`connect` returned a client without `close`, such as those of `redis` 4 and ioredis. Use `redis` 5 or newer: `npm install redis`.',
      );
    }
    this.#createdAt = performance.now();
    // Without a listener, an error of the connection would end the process. Commands reject with it.
    client.on('error', (error) => (this.#lastError = error));
    this.#connecting = client.connect();
    this.#connecting.catch((error: Error) => (this.#lastError = error));
    return client;
  }
}

/** Whether a command was rejected because its client was destroyed. */
const isDisconnect = (error: unknown): boolean =>
  error instanceof Error && error.constructor.name === 'DisconnectsClientError';

/** Rejects nothing: a client of Sentinel that is connecting does. */
async function destroy(client: RedisClient): Promise<void> {
  try {
    await client.destroy();
  } catch {
    // It is closed.
  }
}
