import { resolve } from 'node:path';
import { collections, StoreError } from '@petstore/core';
import { copyStore, type CopyableStore, isEmptyStore } from '@petstore/embedded-store/copy';
import { CommandError } from './commandError.ts';
import type { Command } from './commandLine.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { databaseOf } from '../store/placeOf.ts';
import { formatCount, formatRecordCount, formatNumber, showProgress } from './progress.ts';

export type CopyCommand = Extract<Command, { readonly run: 'copy' }>;

/** Copies one store to another and shows the progress on stderr. @returns the text to print */
export async function runCopy(
  { from, to, resume }: CopyCommand,
  configuration: Configuration,
): Promise<string> {
  if (storeIdentity(from) === storeIdentity(to))
    throw new CommandError('--from and --to are the same store.');
  const source = await openCopyable(from, configuration, false);
  try {
    if (await isEmptyStore(source))
      throw new CommandError('There is nothing to copy: the store of --from is empty.');
    const target = await openCopyable(to, configuration, true);
    try {
      if (!resume && !(await isEmptyStore(target))) {
        throw new CommandError(
          'The store of --to is not empty. Choose another store, or add --resume to continue an interrupted copy.',
        );
      }
      return await copy(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copy(source: CopyableStore, target: CopyableStore): Promise<string> {
  const startedAt = performance.now();
  const onProgress = showProgress((line) => process.stderr.write(line));
  try {
    const copied = await copyStore(source, target, { onProgress });
    const seconds = (performance.now() - startedAt) / 1_000;
    const records = copied.collections.map((each) => {
      const existingRecords =
        each.put < each.records ? ` (${formatNumber(each.records - each.put)} already present)` : '';
      return `${formatRecordCount(each.records, each)}${existingRecords}`;
    });
    return `Copied ${records.join(', ')}, ${formatCount(copied.keys, 'API key')} and ${formatCount(copied.reservations, 'idempotency key')} in ${seconds.toFixed(1)} s. Both stores have checksum ${copied.checksum}.`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isResumable = error.code === 'unavailable' || error.code === 'outcome-unknown';
    // Appended to the store's message.
    throw isResumable
      ? new CommandError(`${error.message} The records copied so far are kept. Continue with --resume.`, {
          cause: error,
        })
      : error;
  }
}

const isDatabase = (store: string) => /^mongodb(?:\+srv)?:\/\//.test(store);

const storeIdentity = (store: string) => (isDatabase(store) ? store : resolve(store));

const onMigrated = (what: string) => void process.stderr.write(`${what}\n`);

/** @param create whether to create a store if there is none */
async function openCopyable(
  store: string,
  { MONGODB_DB, MONGODB_POOL_SIZE, MONGODB_TIMEOUT_MS }: Configuration,
  create: boolean,
): Promise<CopyableStore> {
  if (!isDatabase(store)) {
    if (/^[\w+]+:\/\//.test(store)) {
      throw new CommandError('A store must be the path of a folder, or a mongodb:// or mongodb+srv:// URI.');
    }
    const { openEmbeddedStore } = await import('@petstore/embedded-store');
    return openEmbeddedStore({ dataDir: store, create, onMigrated, collections });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  const open = (operationTimeoutMs: number) =>
    openMongodbStore({
      uri: store,
      database: databaseOf({ MONGODB_DB, MONGODB_URI: store }),
      create,
      maxPoolSize: MONGODB_POOL_SIZE,
      onMigrated,
      operationTimeoutMs,
      collections,
    });
  // Probes the database with the usual timeout. Batches and the count of all animals may take longer.
  const probe = await open(MONGODB_TIMEOUT_MS);
  try {
    await probe.ready();
  } finally {
    await probe.close();
  }
  return open(60_000);
}
