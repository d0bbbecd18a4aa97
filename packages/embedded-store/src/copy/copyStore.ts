import { createHash } from 'node:crypto';
import {
  type CollectionDefinition,
  type CollectionTransfer,
  type CopyableStore,
  isSameKey,
  type KeyRecord,
  type KeyStore,
  type StoredRecord,
  StoreError,
  type StoreTransfer,
} from '@petstore/core/store';

/** Number of batches written concurrently while the next are read. More do not help on one machine. */
const PUTS_AT_ONCE = 4;

/** A batch ends at either limit. Bytes are limited because a name may have megabytes. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4_194_304;

export interface CopyProgress {
  readonly phase: 'copying' | 'verifying';
  readonly collection: string;
  /** Records copied or verified so far. */
  readonly done: number;
  /** Records of the collection. */
  readonly total: number;
}

export interface CopyOptions {
  /** Called after each batch. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

export interface CopiedCollection {
  readonly name: string;
  readonly recordName: string;
  /** Number of records in each of the stores. */
  readonly records: number;
  /** Number of records that this call copied; the others existed before. */
  readonly put: number;
}

export interface CopyResult {
  readonly collections: readonly CopiedCollection[];
  readonly keys: number;
  /** Number of unexpired idempotency keys. */
  readonly reservations: number;
  /** SHA-256 of all records as hex, equal for both stores. */
  readonly checksum: string;
}

/**
 * Copies all collections, API keys, id counters and idempotency keys, then reads the target to verify its records and API
 * keys. Existing data is compared and kept, so an interrupted copy is completed by calling it again. Nothing else may write
 * to either store during a copy.
 * @throws {StoreError} `conflict` if the target has data that the source does not have; `damaged` if the target differs
 *   after the copy, or the source changed during it; any error of the stores
 */
export async function copyStore(
  from: CopyableStore,
  to: CopyableStore,
  { onProgress = () => {} }: CopyOptions = {},
): Promise<CopyResult> {
  const [source, target] = [from.transfer(), to.transfer()];
  const pairs = pairCollections(source, target);
  // Counters and keys first: a server that is started on an incomplete copy must not reuse an id or create a first key.
  for (const pair of pairs) await pair.target.raiseLastId(await pair.source.lastId());
  const keys = await copyKeys(from.keys, to.keys);

  const checksum = createRecordChecksum();
  const collections: CopiedCollection[] = [];
  for (const pair of pairs) {
    const { name, recordName } = pair.source.definition;
    const { count, put } = await copyRecords(pair.source, pair.target, checksum, onProgress);
    if ((await pair.source.count()) !== count) {
      throw new StoreError('damaged', 'The source changed during the copy. Stop its servers first.');
    }
    collections.push({ name, recordName, records: count, put });
  }
  const reservations = await copyReservations(source, target);
  const digest = checksum.digest();
  await verify(pairs, collections, digest, onProgress);
  return { collections, keys, reservations, checksum: digest };
}

/**
 * Adds keys with all their fields, after those that the target has. A key that it has gets the later `lastUsedAt`, and
 * `revokedAt` if it is not revoked: it may have been used or revoked since the last copy. A revocation is never removed.
 * @returns their number
 * @throws {StoreError} `conflict` if the target has other keys, such as one with the same name or hash. Then none is added
 */
export async function copyKeys(from: Pick<KeyStore, 'list'>, to: KeyStore): Promise<number> {
  const keys = await from.list();
  const byHash = new Map(keys.map((key) => [key.hash, key]));
  const existing = await to.list();
  // Before any is added: the target keeps its own keys only.
  if (!existing.every((key) => isSameKey(key, byHash.get(key.hash)))) throw otherKeys();
  const existingHashes = new Set(existing.map(({ hash }) => hash));
  for (const key of keys) {
    const { hash, name, lastUsedAt, revokedAt } = key;
    if (!existingHashes.has(hash)) await to.add(key);
    else {
      if (lastUsedAt !== undefined) await to.touch(hash, lastUsedAt);
      if (revokedAt !== undefined) await to.revoke(name, revokedAt);
    }
  }
  // Also each that is revoked in the source.
  const isCopied = (key: KeyRecord) => {
    const source = byHash.get(key.hash);
    return isSameKey(key, source) && (source?.revokedAt === undefined || key.revokedAt !== undefined);
  };
  const copied = await to.list();
  if (copied.length === keys.length && copied.every(isCopied)) return keys.length;
  throw otherKeys();
}

const otherKeys = () =>
  new StoreError(
    'conflict',
    'The target has API keys that the source does not have. Choose an empty target.',
  );

/** Whether nothing was ever stored: no record, no key, no assigned id. */
export async function isEmptyStore(store: CopyableStore): Promise<boolean> {
  for (const each of store.transfer().collections) if ((await each.lastId()) > 0) return false;
  return (await store.keys.list()).length === 0;
}

interface Pair {
  readonly source: CollectionTransfer;
  readonly target: CollectionTransfer;
}

/** @throws {StoreError} `conflict` if the target lacks a collection of the source */
const pairCollections = (from: StoreTransfer, to: StoreTransfer): Pair[] =>
  from.collections.map((source) => {
    const { name } = source.definition;
    const target = to.collections.find(({ definition }) => definition.name === name);
    if (target !== undefined) return { source, target };
    throw new StoreError(
      'conflict',
      `The target has no collection "${name}": open both with the same collections.`,
    );
  });

/** Reads the target and compares it with the source. @throws {StoreError} `damaged` if they differ */
async function verify(
  pairs: readonly Pair[],
  copied: readonly CopiedCollection[],
  checksum: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const targetChecksum = createRecordChecksum();
  const counts: string[] = [];
  for (const [index, { target }] of pairs.entries()) {
    const { name } = target.definition;
    const total = copied[index]?.records ?? 0;
    let done = 0;
    for await (const page of pages(target)) {
      for (const record of page) targetChecksum.add(target.definition, record);
      done += page.length;
      onProgress({ phase: 'verifying', collection: name, done, total });
    }
    if (done > total) {
      throw new StoreError(
        'conflict',
        `The target has ${name} that the source does not have. Choose an empty target.`,
      );
    }
    counts.push(`${done} of ${total} ${name}`);
  }
  // Also differs if a record is missing.
  const digest = targetChecksum.digest();
  if (digest === checksum) return;
  throw new StoreError(
    'damaged',
    `The copy differs from the source: ${counts.join(', ')}, with checksum ${digest} instead of ${checksum}.`,
  );
}

async function copyRecords(
  from: CollectionTransfer,
  to: CollectionTransfer,
  checksum: ReturnType<typeof createRecordChecksum>,
  onProgress: (progress: CopyProgress) => void,
): Promise<{ readonly count: number; readonly put: number }> {
  const { definition } = from;
  const total = await from.count();
  const puts = new Set<Promise<void>>();
  let count = 0;
  let put = 0;
  for await (const page of pages(from)) {
    for (const record of page) checksum.add(definition, record);
    count += page.length;
    // A rejected promise stays in the set, and its error is thrown below.
    const putting = to.put(page).then((missing) => {
      put += missing;
      puts.delete(putting);
    });
    putting.catch(() => {});
    puts.add(putting);
    if (puts.size >= PUTS_AT_ONCE) await Promise.race(puts);
    onProgress({ phase: 'copying', collection: definition.name, done: count, total });
  }
  await Promise.all(puts);
  return { count, put };
}

/** SHA-256 of added records, each as JSON: its values in the schema's order, `null` for an absent field. */
function createRecordChecksum() {
  const hash = createHash('sha256');
  return {
    add({ fields }: CollectionDefinition, record: StoredRecord): void {
      const values = fields.map((field): unknown => Reflect.get(record, field) ?? null);
      hash.update(`${JSON.stringify(values)}\n`);
    },
    /** Returns the hash as hex. Call it once. */
    digest: () => hash.digest('hex'),
  };
}

/** Copies idempotency keys after the records, which a retry looks for. @returns their number */
async function copyReservations(from: StoreTransfer, to: StoreTransfer): Promise<number> {
  for (let count = 0, after = ''; ;) {
    const page = await from.reservations(after, BATCH_ROWS);
    const last = page.at(-1);
    if (last === undefined) return count;
    await to.putReservations(page);
    count += page.length;
    after = last.digest;
  }
}

/** Yields all records in ascending order by id. */
async function* pages(collection: CollectionTransfer): AsyncGenerator<StoredRecord[]> {
  for (let after = 0; ;) {
    const page = await collection.records(after, BATCH_ROWS, BATCH_BYTES);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}
