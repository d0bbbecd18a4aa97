import { createHash } from 'node:crypto';
import { type Bucket, type State, type TakeResult, takeTokens } from '@petstore/gateway';
import type { Collection, CommandOperationOptions, Db } from 'mongodb';
import { bucketEpoch } from './bucketEpoch.ts';

export interface MongodbStateOptions {
  /** The database. The caller owns its client and closes it. */
  readonly db: Db;
  /** The name of a dedicated collection. Default: `gatewayState`. */
  readonly collection?: string;
}

/** State shared by processes on several machines. */
export interface MongodbState extends State {
  /** Returns unused tokens to their buckets. It waits at most 2 s. Call it before you close the client. */
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

/** How long an operation may take, in milliseconds. Requests stop waiting earlier. */
const operationTimeoutMs = 5000;

/** How long `close` waits for the database, in milliseconds. */
const closeTimeoutMs = 2000;

/**
 * Options of an operation that ends, and closes its connection, if the database does not respond. The driver's types allow
 * a signal for reads only, but 7.8.0 accepts it for writes too; `comment` makes the type assignable.
 */
const within = (
  ms = operationTimeoutMs,
): Pick<CommandOperationOptions, 'comment'> & { readonly signal: AbortSignal } => ({
  signal: AbortSignal.timeout(ms),
});

/**
 * Opens state in a MongoDB collection. Values are on a majority of the servers when `add` and `set` resolve.
 *
 * `take` leases tokens in blocks of a 64th of the tokens left, but at least the requested number. Tokens that a process has
 * not used for half a second return to the bucket. A limit is therefore never exceeded, and up to 5% lower if clients switch
 * between processes. The clocks of the machines should differ by less than 1% of a window.
 * @throws the driver's errors while the database is unavailable
 */
export async function mongodbState({
  db,
  collection = 'gatewayState',
}: MongodbStateOptions): Promise<MongodbState> {
  const rows = db.collection<StateRow>(collection, {
    readPreference: 'primary',
    readConcern: 'majority',
    writeConcern: { w: 'majority' },
  });
  await rows.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  const leases = new Leases(rows);
  return {
    ...valueMethods(rows),
    take: (key, count, bucket) => leases.take(`b:${hashKeyToBase64url(key)}`, count, bucket),
    close: () => leases.close(),
  };
}

function valueMethods(rows: StateCollection): Omit<State, 'take'> {
  const idOf = (key: string) => `v:${hashKeyToBase64url(key)}`;
  return {
    async add(key, value, ttlMs) {
      const _id = idOf(key);
      for (;;) {
        const row = { _id, value, expiresAt: new Date(Date.now() + ttlMs) };
        if (await isInserted(rows, row)) return undefined;
        const existing = await rows.findOne({ _id }, within());
        if (existing === null) continue;
        const { expiresAt } = existing;
        if (expiresAt.getTime() > Date.now()) return existing.value;
        const { modifiedCount } = await rows.replaceOne({ _id, expiresAt }, row, within());
        if (modifiedCount === 1) return undefined;
      }
    },
    async set(key, value, ttlMs) {
      const row = { value, expiresAt: new Date(Date.now() + ttlMs) };
      await rows.replaceOne({ _id: idOf(key) }, row, { ...within(), upsert: true });
    },
    async delete(key, value) {
      await rows.deleteOne({ _id: idOf(key), value }, within());
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

  /**
   * Takes tokens of this lease. If it has too few, returns the known state of the bucket, or `undefined` if the database must
   * be queried.
   */
  take(count: number): TakeResult | undefined {
    const now = Date.now();
    if (count > 0 && count <= this.tokens) {
      this.tokens -= count;
      this.usedAt = now;
      return this.#asOf(0, now);
    }
    if (now - this.knownAt > leaseIdleMs) return undefined;
    const taken = this.#asOf(count, now);
    return count === 0 || !taken.isTaken ? taken : undefined;
  }

  /** Returns the bucket's last known result, as if the tokens of this lease were still in the bucket. */
  #asOf(count: number, now: number): TakeResult {
    const fullAt = this.fullAt === undefined ? undefined : this.fullAt - this.refillMs;
    return takeTokens(fullAt, count, this.bucket, now - bucketEpoch).taken;
  }
}

class Leases {
  readonly #rows: StateCollection;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(rows: StateCollection) {
    this.#rows = rows;
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
    const rows = this.#rows;
    for (let attempt = 0; attempt < maxLeaseAttempts; attempt += 1) {
      // Uses a recent value without reading it again: the update fails if it has changed.
      const isKnown = attempt === 0 && lease.fullAt !== undefined && Date.now() - lease.knownAt < leaseIdleMs;
      const before = isKnown ? lease.fullAt : (await rows.findOne({ _id }, within()))?.fullAt;
      const now = Date.now() - bucketEpoch;
      const { left } = takeTokens(before, 0, bucket, now).taken;
      const block = blockOf(lease, left);
      const { fullAt } = takeTokens(before, block, bucket, now);
      const row = { fullAt, expiresAt: new Date(bucketEpoch + fullAt) };
      if (block > 0) {
        const isStored =
          before === undefined
            ? await isInserted(rows, { _id, ...row })
            : (await rows.updateOne({ _id, fullAt: before }, { $set: row }, within())).modifiedCount === 1;
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
      await this.#rows.updateOne({ _id }, { $inc: { fullAt: -refillMs } }, within(closeTimeoutMs));
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

async function isInserted(rows: StateCollection, row: StateRow): Promise<boolean> {
  try {
    await rows.insertOne(row, within());
    return true;
  } catch (error) {
    // Duplicate key error.
    if ((error as { readonly code?: unknown }).code === 11_000) return false;
    throw error;
  }
}

/** Hashes a key, because it may contain a credential. */
const hashKeyToBase64url = (key: string): string => createHash('sha256').update(key).digest('base64url');
