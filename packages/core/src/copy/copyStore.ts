import { isDeepStrictEqual } from 'node:util';
import type { Animal } from '../schemas.ts';
import type { KeyRecord } from '../store/store.ts';
import { StoreError } from '../store/storeError.ts';
import { isSameKey, type StoredReservation, type StoreTransfer } from '../store/transfer.ts';
import { createAnimalChecksum } from './animalChecksum.ts';

/** How many batches are on their way to the target while the next are read: more bring nothing on one machine. */
const PUTS_AT_ONCE = 4;

/** How many rows a batch has at most, and after how many bytes of them it ends: a name may have megabytes. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4_194_304;

export interface CopyProgress {
  readonly phase: 'copying' | 'verifying';
  /** Of `total` animals. */
  readonly done: number;
  readonly total: number;
}

export interface CopyOptions {
  /** Called for every batch. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

export interface Copied {
  /** How many animals both stores have now. */
  readonly animals: number;
  /** How many of them were not there before. */
  readonly put: number;
  readonly keys: number;
  /** How many idempotency keys that are good the target has. */
  readonly reservations: number;
  /** SHA-256 of all animals, hexadecimal: the same of both stores. */
  readonly checksum: string;
}

/**
 * Copies animals, API keys, the id counter and idempotency keys, and reads the target again to see that it has the
 * animals and API keys of the source. What is there already is compared and left as it is, so a copy that was
 * interrupted is done again with the same call. Nothing else may write to either store meanwhile.
 * @throws {StoreError} `conflict` where the target has what the source has not; `damaged` where what was read back is
 * not what was written, or the source changed meanwhile; what the stores throw
 */
export async function copyStore(
  from: StoreTransfer,
  to: StoreTransfer,
  { onProgress = () => {} }: CopyOptions = {},
): Promise<Copied> {
  // First what keeps a server that is started on half a copy from giving an id again, and from making a first key.
  await to.raiseLastAnimalId(await from.lastAnimalId());
  const keys = await from.keys();
  await to.putKeys(keys);
  if (!areCopied(byName(keys), byName(await to.keys()))) {
    throw new StoreError('conflict', 'The target has API keys that the source has not: choose an empty one.');
  }

  const source = await copyAnimals(from, to, onProgress);
  if ((await from.countAnimals()) !== source.count) {
    throw new StoreError('damaged', 'The source changed while it was copied: stop its servers first.');
  }
  const reservations = await copyReservations(from, to);

  const target = createAnimalChecksum();
  for await (const page of pages(to)) {
    for (const animal of page) target.add(animal);
    onProgress({ phase: 'verifying', done: target.count(), total: source.count });
  }
  const checksum = target.digest();
  if (target.count() !== source.count || checksum !== source.checksum) {
    throw new StoreError(
      'damaged',
      `The copy is not what the source is: ${target.count()} animals with checksum ${checksum}, not ${source.count} with ${source.checksum}.`,
    );
  }
  return { animals: source.count, put: source.put, keys: keys.length, reservations, checksum };
}

async function copyAnimals(
  from: StoreTransfer,
  to: StoreTransfer,
  onProgress: (progress: CopyProgress) => void,
): Promise<{ readonly count: number; readonly put: number; readonly checksum: string }> {
  const total = await from.countAnimals();
  const checksum = createAnimalChecksum();
  const there = readInOrder(to);
  const puts = new Set<Promise<void>>();
  let put = 0;
  for await (const page of pages(from)) {
    const missing: Animal[] = [];
    for (const animal of page) {
      checksum.add(animal);
      // Awaited only where there is a page to read: this is done for every animal.
      const found = there.current() ?? (there.ended() ? undefined : await there.read());
      if (found === undefined || found.id > animal.id) missing.push(animal);
      else if (isDeepStrictEqual(found, animal)) there.next();
      else throw otherAnimal(Math.min(found.id, animal.id));
    }
    if (missing.length > 0) {
      put += missing.length;
      // One that fails stays, and is thrown below.
      const putting = to.putAnimals(missing).then(() => void puts.delete(putting));
      putting.catch(() => {});
      puts.add(putting);
    }
    if (puts.size >= PUTS_AT_ONCE) await Promise.race(puts);
    onProgress({ phase: 'copying', done: checksum.count(), total });
  }
  await Promise.all(puts);
  const left = there.current() ?? (there.ended() ? undefined : await there.read());
  if (left !== undefined) throw otherAnimal(left.id);
  return { count: checksum.count(), put, checksum: checksum.digest() };
}

/** After the animals: whoever finds an idempotency key finds its animal. @returns how many the target has */
async function copyReservations(from: StoreTransfer, to: StoreTransfer): Promise<number> {
  for await (const page of reservationPages(from)) await to.putReservations(page);
  let count = 0;
  for await (const page of reservationPages(to)) count += page.length;
  return count;
}

async function* reservationPages(store: StoreTransfer): AsyncGenerator<StoredReservation[]> {
  for (let after = ''; ;) {
    const page = await store.reservations(after, BATCH_ROWS);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.digest;
  }
}

const otherAnimal = (id: number) =>
  new StoreError('conflict', `The target has another animal ${id} than the source: choose an empty one.`);

const byName = (records: readonly KeyRecord[]): KeyRecord[] =>
  records.toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** Whether the target has all keys and no others, and none of them is good that is revoked in the source. */
const areCopied = (source: readonly KeyRecord[], target: readonly KeyRecord[]): boolean =>
  source.length === target.length &&
  source.every((key, at) => {
    const copied = target[at];
    return isSameKey(key, copied) && (key.revokedAt === undefined || copied?.revokedAt !== undefined);
  });

/** All animals in ascending order of id. */
async function* pages(store: StoreTransfer): AsyncGenerator<Animal[]> {
  for (let after = 0; ;) {
    const page = await store.animals(after, BATCH_ROWS, BATCH_BYTES);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}

/** The animals of a store one by one. A page is read when those before are passed, and none after the last. */
function readInOrder(store: StoreTransfer) {
  const reading = pages(store);
  let page: readonly Animal[] = [];
  let at = 0;
  let ended = false;
  return {
    /** `undefined` where a page must be read first, or none is left. */
    current: (): Animal | undefined => page[at],
    ended: () => ended,
    next(): void {
      at++;
    },
    async read(): Promise<Animal | undefined> {
      const { value, done } = await reading.next();
      if (done === true) ended = true;
      page = done === true ? [] : value;
      at = 0;
      return page[at];
    },
  };
}
