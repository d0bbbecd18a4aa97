import { createHash } from 'node:crypto';
import { type Bucket, type State, type Taken, takeTokens } from '@petstore/gateway';
import type { Collection, Db } from 'mongodb';

export interface MongodbStateOptions {
  /** The database, of a client that is the caller's to close. */
  readonly db: Db;
  /** The collection, which nothing else uses. Default: `gatewayState`. */
  readonly collection?: string;
}

/** State that processes of several machines share. */
export interface MongodbState extends State {
  /** Returns tokens that are not used. Call it before the client is closed. */
  close(): Promise<void>;
}

interface Row {
  readonly _id: string;
  readonly value?: string;
  /** When a bucket is full again, in milliseconds since `epoch`. */
  readonly fullAt?: number;
  /** After this the row is as good as none, and MongoDB removes it. */
  readonly expiresAt: Date;
}

type Rows = Collection<Row>;

/** Times in buckets count from here (2026-01-01, UTC): a double has more decimals for a smaller number. */
const epoch = 1_767_225_600_000;

/**
 * State in a collection of MongoDB. A value is on a majority of the servers when `add` and `set` resolve.
 *
 * `take` leases tokens in blocks: a 64th of what is left, at least what is asked for. Tokens that a process has not used for
 * half a second go back, so a limit accepts at most what it says, and where callers change processes up to 5% less. The
 * clocks of the machines should differ by less than 1% of a window.
 * @throws what the driver throws while the database cannot be reached
 */
export async function mongodbState({
  db,
  collection = 'gatewayState',
}: MongodbStateOptions): Promise<MongodbState> {
  const rows = db.collection<Row>(collection, {
    readPreference: 'primary',
    readConcern: 'majority',
    writeConcern: { w: 'majority' },
  });
  await rows.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  const leases = new Leases(rows);
  return {
    ...values(rows),
    take: (key, count, bucket) => leases.take(`b:${digestOf(key)}`, count, bucket),
    close: () => leases.close(),
  };
}

function values(rows: Rows): Omit<State, 'take'> {
  const idOf = (key: string) => `v:${digestOf(key)}`;
  return {
    async add(key, value, ttlMs) {
      const _id = idOf(key);
      for (;;) {
        const row = { _id, value, expiresAt: new Date(Date.now() + ttlMs) };
        if (await isInserted(rows, row)) return undefined;
        const existing = await rows.findOne({ _id });
        if (existing === null) continue;
        const { expiresAt } = existing;
        if (expiresAt.getTime() > Date.now()) return existing.value;
        const { modifiedCount } = await rows.replaceOne({ _id, expiresAt }, row);
        if (modifiedCount === 1) return undefined;
      }
    },
    async set(key, value, ttlMs) {
      const row = { value, expiresAt: new Date(Date.now() + ttlMs) };
      await rows.replaceOne({ _id: idOf(key) }, row, { upsert: true });
    },
    async delete(key) {
      await rows.deleteOne({ _id: idOf(key) });
    },
  };
}

/** How long tokens are kept that are not used, and what is known of a bucket, in milliseconds. */
const keptMs = 500;

/** The part of a bucket that one lease takes. */
const part = 64;

/** How often a lease is tried that others take at the same time. */
const attempts = 100;

/** Tokens of a bucket that are this process's. */
class Lease {
  readonly id: string;
  readonly bucket: Bucket;
  tokens = 0;
  /** When the bucket is full again, as it was last read or written; the tokens of this lease count as used. */
  fullAt: number | undefined = undefined;
  /** When that was, and when a token was last used. */
  knownAt = -Infinity;
  usedAt = Date.now();
  /** What each of the calls needs that wait. */
  readonly waiting: number[] = [];
  pending: Promise<void> | undefined = undefined;

  constructor(id: string, bucket: Bucket) {
    this.id = id;
    this.bucket = bucket;
  }

  /** The tokens that are here, as time until the bucket is full. */
  get ms(): number {
    return (this.tokens * this.bucket.windowMs) / this.bucket.size;
  }

  /** Takes tokens that are here; the answer of the bucket where it has too few; `undefined` where it must be asked. */
  take(count: number): Taken | undefined {
    const now = Date.now();
    if (count > 0 && count <= this.tokens) {
      this.tokens -= count;
      this.usedAt = now;
      return this.#asOf(0, now);
    }
    if (now - this.knownAt > keptMs) return undefined;
    const taken = this.#asOf(count, now);
    return count === 0 || !taken.isTaken ? taken : undefined;
  }

  /** What the bucket would answer, as far as it is known, if the tokens of this lease were in it. */
  #asOf(count: number, now: number): Taken {
    const fullAt = this.fullAt === undefined ? undefined : this.fullAt - this.ms;
    return takeTokens(fullAt, count, this.bucket, now - epoch).taken;
  }
}

class Leases {
  readonly #rows: Rows;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  take(id: string, count: number, bucket: Bucket): Taken | Promise<Taken> {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      lease = new Lease(id, bucket);
      this.#leases.set(id, lease);
      this.#timer ??= setInterval(() => void this.#returnUnused(), keptMs).unref();
    }
    // Calls that wait come first.
    return (lease.pending === undefined ? lease.take(count) : undefined) ?? this.#lease(lease, count);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#leases.values()].map((lease) => this.#return(lease)));
    this.#leases.clear();
  }

  async #lease(lease: Lease, count: number): Promise<Taken> {
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

  /** Takes what the waiting calls need, or a part of the bucket, or what is left. */
  async #extend(lease: Lease): Promise<void> {
    const { bucket, id: _id } = lease;
    const rows = this.#rows;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      // What was read a moment ago may still be so: the update fails where it is not.
      const isKnown = attempt === 0 && lease.fullAt !== undefined && Date.now() - lease.knownAt < keptMs;
      const before = isKnown ? lease.fullAt : (await rows.findOne({ _id }))?.fullAt;
      const now = Date.now() - epoch;
      const { left } = takeTokens(before, 0, bucket, now).taken;
      const block = blockOf(lease, left);
      const { fullAt } = takeTokens(before, block, bucket, now);
      const row = { fullAt, expiresAt: new Date(epoch + fullAt) };
      if (block > 0) {
        const isStored =
          before === undefined
            ? await isInserted(rows, { _id, ...row })
            : (await rows.updateOne({ _id, fullAt: before }, { $set: row })).modifiedCount === 1;
        if (!isStored) continue;
      }
      lease.tokens += block;
      lease.fullAt = fullAt;
      lease.knownAt = Date.now();
      if (block > 0) lease.usedAt = lease.knownAt;
      return;
    }
    throw new Error(`The bucket was changed by others ${attempts} times in a row.`);
  }

  async #returnUnused(): Promise<void> {
    const before = Date.now() - keptMs;
    const idle = [...this.#leases.values()].filter(({ pending, usedAt }) => !pending && usedAt <= before);
    for (const { id } of idle) this.#leases.delete(id);
    if (this.#leases.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    await Promise.all(idle.map((lease) => this.#return(lease)));
  }

  async #return(lease: Lease): Promise<void> {
    const { id: _id, ms } = lease;
    lease.tokens = 0;
    if (ms === 0) return;
    try {
      await this.#rows.updateOne({ _id }, { $inc: { fullAt: -ms } });
    } catch {
      // They come back by themselves while the window passes.
    }
  }
}

/** How many tokens to lease: none where that would be too few for every call that waits. */
function blockOf({ tokens, waiting }: Lease, left: number): number {
  const needed = waiting.reduce((sum, count) => sum + count, 0) - tokens;
  if (needed <= 0 || Math.min(...waiting) > tokens + left) return 0;
  return Math.min(left, Math.max(needed, Math.floor(left / part)));
}

async function isInserted(rows: Rows, row: Row): Promise<boolean> {
  try {
    await rows.insertOne(row);
    return true;
  } catch (error) {
    // A duplicate key.
    if ((error as { readonly code?: unknown }).code === 11_000) return false;
    throw error;
  }
}

/** A key may hold a credential. */
const digestOf = (key: string): string => createHash('sha256').update(key).digest('base64url');
