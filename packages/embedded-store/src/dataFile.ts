import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/*
 * LMDB maps its file into memory and trusts the content. A read beyond the end of a truncated file ends the process with
 * SIGBUS, and a damaged meta page can do worse. So this file checks both meta pages before lmdb opens the file. Offsets:
 * struct MDB_meta after the page header in liblmdb's mdb.c, data version 2, 64 bits.
 */
const META_BYTES = 168;
const PAGE_FLAGS = 18;
const MAGIC = 24;
const VERSION = 28;
const PAGE_SIZE = 48;
const FREE_ROOT = 88;
const MAIN_ROOT = 136;
const LAST_PAGE = 144;
const TRANSACTION_ID = 152;

const P_META = 0x08;
const LMDB_MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** Root page number of an empty tree. */
const NO_PAGE = 2n ** 64n - 1n;

/** Looks for damage that would make LMDB end the process. @returns its description, or `undefined` */
export async function findDamage(path: string): Promise<string | undefined> {
  const damage = inspect(path);
  if (damage === undefined) return undefined;
  // Another process may have committed between the two reads (observed once in a million). Real damage stays.
  await delay(20);
  return inspect(path);
}

function inspect(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    const first = readMetaPage(file, 0);
    if (typeof first === 'string') return first;
    const second = readMetaPage(file, first.pageSize);
    if (typeof second === 'string') return second;
    if (first.pageSize !== second.pageSize) return 'its two meta pages contradict each other';
    // Every commit overwrites the older page, so the transaction numbers differ by 1 (both are 0 in a new file).
    const difference = first.transaction - second.transaction;
    if (difference < -1n || difference > 1n) return 'its two meta pages contradict each other';

    const latest = difference > 0n ? first : second;
    const pages = latest.lastPage + 1n;
    const isOutside = (root: bigint) => root !== NO_PAGE && root >= pages;
    if (isOutside(latest.freeRoot) || isOutside(latest.mainRoot))
      return 'a meta page points outside the file';
    // The size is read after the meta pages: a concurrent writer only makes the file larger.
    const missing = pages * BigInt(latest.pageSize) - BigInt(fstatSync(file).size);
    return missing > 0n ? `it is truncated: ${missing} bytes are missing` : undefined;
  } finally {
    closeSync(file);
  }
}

function readMetaPage(file: number, offset: number) {
  const page = Buffer.alloc(META_BYTES);
  if (readSync(file, page, 0, META_BYTES, offset) < META_BYTES) {
    return offset === 0 && fstatSync(file).size === 0
      ? 'it is empty'
      : 'it is truncated within its meta pages';
  }
  if ((page.readUInt16LE(PAGE_FLAGS) & P_META) === 0 || page.readUInt32LE(MAGIC) !== LMDB_MAGIC) {
    return 'a meta page has no LMDB signature';
  }
  if (page.readUInt32LE(VERSION) !== DATA_VERSION) return 'it has an unknown LMDB data version';
  const pageSize = page.readUInt32LE(PAGE_SIZE);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) {
    return 'a meta page has an invalid page size';
  }
  return {
    pageSize,
    freeRoot: page.readBigUInt64LE(FREE_ROOT),
    mainRoot: page.readBigUInt64LE(MAIN_ROOT),
    lastPage: page.readBigUInt64LE(LAST_PAGE),
    transaction: page.readBigUInt64LE(TRANSACTION_ID),
  };
}
