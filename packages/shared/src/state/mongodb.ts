import { type Bucket, type State, type TakeResult, takeTokens } from 'trpc-gateway';
import type { Collection, MongoClient } from 'mongodb';
import { inTime } from '../inTime.ts';
import { hashKey } from '../hashKey.ts';
import { bucketEpoch } from './bucketEpoch.ts';
import { openClients } from './mongodbClients.ts';

export interface MongodbStateOptions {
  /**
   * Creates a client, such as `() => new MongoClient(uri)`. The state closes it, and creates another one after an operation
   * that found no server or took 5 s.
   */
  readonly connect: () => MongoClient;
  /** The name of the database. Default: that of the client's URI. */
  readonly database?: string;
  /** The name of a dedicated collection. Default: `gatewayState`. */
  readonly collection?: string;
}

/** State shared by processes on several machines. */
export interface MongodbState extends State {
  /** Returns unused tokens to their buckets, and closes the client. It waits for the database for at most 4 s. */
  close(): Promise<void>;
}

interface StateRow {
  readonly _id: string;
  readonly value?: string;
  /** When a bucket is full again, in milliseconds since `bucketEpoch`. */
  readonly fullAt?: number;
  /** When the document expires. Afterwards it is ignored, and MongoDB removes it. */
  readonly expiresAt: Date;
}

type StateCollection = Collection<StateRow>;

type StateClients = ReturnType<typeof openClients<StateCollection>>;

/** How long `close` waits until unused tokens are returned, in milliseconds. */
const returnTimeoutMs = 2000;

/**
 * Opens state in a MongoDB collection. Values are on a majority of the servers when `add` and `set` resolve.
 *
 * `take` leases tokens in blocks of a 64th of the tokens left, but at least the requested number. Tokens that a process has
 * not used for half a second return to the bucket. A limit is therefore never exceeded, and up to 5% lower if clients switch
 * between processes. The clocks of the machines should differ by less than 1% of a window.
 * @throws the driver's errors while the database is unavailable
 */
export async function mongodbState({
  connect,
  database,
  collection = 'gatewayState',
}: MongodbStateOptions): Promise<MongodbState> {
  const clients: StateClients = openClients(connect, (client) =>
    client.db(database).collection<StateRow>(collection, {
      readPreference: 'primary',
      readConcern: 'majority',
      writeConcern: { w: 'majority' },
    }),
  );
  try {
    await clients.run((rows, options) =>
      rows.createIndex({ expiresAt: 1 }, { ...options, expireAfterSeconds: 0 }),
    );
  } catch (error) {
    await clients.close();
    throw error;
  }
  const leases = new Leases(clients);
  return {
    ...valueMethods(clients),
    take: (key, count, bucket) => leases.take(`b:${hashKey(key)}`, count, bucket),
    async close() {
      await inTime(leases.close(), returnTimeoutMs);
      await clients.close();
    },
  };
}

function valueMethods(clients: StateClients): Omit<State, 'take'> {
  const idOf = (key: string) => `v:${hashKey(key)}`;
  return {
    async add(key, value, ttlMs) {
      const _id = idOf(key);
      for (;;) {
        const row = { _id, value, expiresAt: new Date(Date.now() + ttlMs) };
        if (await isInserted(clients, row)) return undefined;
        const existing = await clients.run((rows, options) => rows.findOne({ _id }, options));
        if (existing === null) continue;
        const { expiresAt } = existing;
        if (expiresAt.getTime() > Date.now()) return existing.value;
        const { modifiedCount } = await clients.run((rows, options) =>
          rows.replaceOne({ _id, expiresAt }, row, options),
        );
        if (modifiedCount === 1) return undefined;
      }
    },
    async set(key, value, ttlMs) {
      const row = { value, expiresAt: new Date(Date.now() + ttlMs) };
      await clients.run((rows, options) =>
        rows.replaceOne({ _id: idOf(key) }, row, { ...options, upsert: true }),
      );
    },
    async delete(key, value) {
      await clients.run((rows, options) => rows.deleteOne({ _id: idOf(key), value }, options));
    },
  };
}

/** How long a process keeps unused tokens and the last known state of a bucket. */
const leaseIdleMs = 500;

/** A lease takes one part in so many of the tokens left. */
const leaseDivisor = 64;

/** How often a lease is retried after concurrent updates of its bucket. */
const maxLeaseAttempts = 100;

/** Tokens of a bucket that this process has leased. */
class Lease {
  readonly id: string;
  readonly bucket: Bucket;
  tokens = 0;
  /** When the bucket is full again, as last read or written. The tokens of this lease count as used. */
  fullAt: number | undefined = undefined;
  /** When `fullAt` was last read or written. */
  knownAt = -Infinity;
  /** When a token was last used. */
  usedAt = Date.now();
  /** The number of tokens that each waiting call needs. */
  readonly waiting: number[] = [];
  pending: Promise<void> | undefined = undefined;

  constructor(id: string, bucket: Bucket) {
    this.id = id;
    this.bucket = bucket;
  }

  /** How long the bucket needs to refill the tokens of this lease. */
  get refillMs(): number {
    return (this.tokens * this.bucket.windowMs) / this.bucket.size;
  }

  /** Takes leased tokens, or returns the bucket's state; `undefined` if the database must be queried. */
  take(count: number): TakeResult | undefined {
    const now = Date.now();
    if (count > 0 && count <= this.tokens) {
      this.tokens -= count;
      this.usedAt = now;
      return this.#asOf(0, now);
    }
    // Known in the future, if the clock was set back.
    if (Math.abs(now - this.knownAt) > leaseIdleMs) return undefined;
    const taken = this.#asOf(count, now);
    return count === 0 || !taken.isTaken ? taken : undefined;
  }

  /** Returns the bucket's last known result, as if the tokens of this lease were still in the bucket. */
  #asOf(count: number, now: number): TakeResult {
    const whenReturned = this.fullAt === undefined ? undefined : this.fullAt - this.refillMs;
    return takeTokens(whenReturned, count, this.bucket, now - bucketEpoch).taken;
  }
}

class Leases {
  readonly #clients: StateClients;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clients: StateClients) {
    this.#clients = clients;
  }

  take(id: string, count: number, bucket: Bucket): TakeResult | Promise<TakeResult> {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      lease = new Lease(id, bucket);
      this.#leases.set(id, lease);
      this.#timer ??= setInterval(() => void this.#returnUnused(), leaseIdleMs).unref();
    }
    // Waiting calls come first.
    return (lease.pending === undefined ? lease.take(count) : undefined) ?? this.#lease(lease, count);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#leases.values()].map((lease) => this.#return(lease)));
    this.#leases.clear();
  }

  async #lease(lease: Lease, count: number): Promise<TakeResult> {
    lease.waiting.push(count);
    try {
      for (;;) {
        lease.pending ??= this.#extend(lease).finally(() => {
          lease.pending = undefined;
        });
        await lease.pending;
        const taken = lease.take(count);
        if (taken) return taken;
      }
    } finally {
      lease.waiting.splice(lease.waiting.indexOf(count), 1);
    }
  }

  /** Leases the tokens that the waiting calls need or a 64th of the bucket, whichever is more, but not more than are left. */
  async #extend(lease: Lease): Promise<void> {
    const { bucket, id: _id } = lease;
    const clients = this.#clients;
    for (let attempt = 0; attempt < maxLeaseAttempts; attempt += 1) {
      // Uses a recent value without reading it again: the update fails if it has changed.
      const isRecent = Math.abs(Date.now() - lease.knownAt) < leaseIdleMs;
      const isKnown = attempt === 0 && lease.fullAt !== undefined && isRecent;
      const before = isKnown
        ? lease.fullAt
        : (await clients.run((rows, options) => rows.findOne({ _id }, options)))?.fullAt;
      const now = Date.now() - bucketEpoch;
      const { left } = takeTokens(before, 0, bucket, now).taken;
      const block = blockOf(lease, left);
      const { fullAt } = takeTokens(before, block, bucket, now);
      const row = { fullAt, expiresAt: new Date(bucketEpoch + fullAt) };
      // If the clock was set back, the bucket is empty, not blocked for the difference.
      const isSetBack = before !== undefined && before - now > bucket.windowMs + 1;
      if (block > 0 || isSetBack) {
        const isStored =
          before === undefined
            ? await isInserted(clients, { _id, ...row })
            : (
                await clients.run((rows, options) =>
                  rows.updateOne({ _id, fullAt: before }, { $set: row }, options),
                )
              ).modifiedCount === 1;
        if (!isStored) continue;
      }
      lease.tokens += block;
      lease.fullAt = fullAt;
      lease.knownAt = Date.now();
      if (block > 0) lease.usedAt = lease.knownAt;
      return;
    }
    throw new Error(
      `The rate limit bucket was changed by other processes ${maxLeaseAttempts} times in a row.`,
    );
  }

  async #returnUnused(): Promise<void> {
    const before = Date.now() - leaseIdleMs;
    const idle = [...this.#leases.values()].filter(({ pending, usedAt }) => !pending && usedAt <= before);
    for (const { id } of idle) this.#leases.delete(id);
    if (this.#leases.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    await Promise.all(idle.map((lease) => this.#return(lease)));
  }

  async #return(lease: Lease): Promise<void> {
    const { id: _id, refillMs } = lease;
    lease.tokens = 0;
    if (refillMs === 0) return;
    try {
      await this.#clients.run((rows, options) =>
        rows.updateOne({ _id }, { $inc: { fullAt: -refillMs } }, options),
      );
    } catch {
      // The bucket refills anyway as the window passes.
    }
  }
}

/** Returns how many tokens to lease: 0 if they would not suffice for any waiting call. */
function blockOf({ tokens, waiting }: Lease, left: number): number {
  const needed = waiting.reduce((sum, count) => sum + count, 0) - tokens;
  if (needed <= 0 || Math.min(...waiting) > tokens + left) return 0;
  return Math.min(left, Math.max(needed, Math.floor(left / leaseDivisor)));
}

async function isInserted(clients: StateClients, row: StateRow): Promise<boolean> {
  try {
    await clients.run((rows, options) => rows.insertOne(row, options));
    return true;
  } catch (error) {
    // Duplicate key error.
    if ((error as { readonly code?: unknown }).code === 11_000) return false;
    throw error;
  }
}
