import { resolve } from 'node:path';
import { StoreError } from '@petstore/core';
import { copyStore, type StoreTransfer } from '@petstore/core/copy';
import { CommandError } from './commandError.ts';
import type { Command } from './commandLine.ts';
import type { Configuration } from './configuration.ts';
import { count, countOf, number, showProgress } from './progress.ts';

export type CopyCommand = Extract<Command, { readonly run: 'copy' }>;

/** Copies one store to another, with its progress on stderr. @returns what is printed at the end */
export async function runCopy(
  { from, to, resume }: CopyCommand,
  configuration: Configuration,
): Promise<string> {
  if (nameOf(from) === nameOf(to)) throw new CommandError('--from and --to are the same store.');
  const source = await openTransfer(from, configuration, false);
  try {
    if (await source.isEmpty())
      throw new CommandError('There is nothing to copy: the store of --from is empty.');
    const target = await openTransfer(to, configuration, true);
    try {
      if (!resume && !(await target.isEmpty())) {
        throw new CommandError(
          'The store of --to is not empty: choose another, or add --resume to go on where a copy was interrupted.',
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

async function copy(source: StoreTransfer, target: StoreTransfer): Promise<string> {
  const since = performance.now();
  const progress = showProgress(process.stderr);
  try {
    const { collections, keys, reservations, checksum } = await copyStore(source, target, {
      onProgress: (each) => progress.show(each),
    });
    const seconds = (performance.now() - since) / 1_000;
    const copied = collections.map((each) => {
      const already =
        each.put < each.records ? `, ${number(each.records - each.put)} of them there already` : '';
      return `${countOf(each.records, each)}${already}`;
    });
    return `Copied ${copied.join(', ')}, ${count(keys, 'API key')} and ${count(reservations, 'idempotency key')} in ${seconds.toFixed(1)} s. Both stores have checksum ${checksum}.`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const canGoOn = error.code === 'unavailable' || error.code === 'outcome-unknown';
    // A sentence of its own, after the store's.
    throw canGoOn
      ? new CommandError(`${error.message} What was copied stays: go on with --resume.`, { cause: error })
      : error;
  } finally {
    progress.end();
  }
}

const isDatabase = (store: string) => /^mongodb(?:\+srv)?:\/\//.test(store);

const nameOf = (store: string) => (isDatabase(store) ? store : resolve(store));

const onMigrated = (what: string) => void process.stderr.write(`${what}\n`);

/** @param create whether a store is made where there is none */
async function openTransfer(
  store: string,
  { MONGODB_DB, MONGODB_POOL_SIZE, MONGODB_TIMEOUT_MS }: Configuration,
  create: boolean,
): Promise<StoreTransfer> {
  if (!isDatabase(store)) {
    if (/^[\w+]+:\/\//.test(store)) {
      throw new CommandError('A store is the path of a folder, or a mongodb:// or mongodb+srv:// URI.');
    }
    const { openEmbeddedTransfer } = await import('@petstore/core/store/embedded');
    return openEmbeddedTransfer({ dataDir: store, create, onMigrated });
  }
  const { openMongodbStore, openMongodbTransfer } = await import('@petstore/core/store/mongodb');
  const options = { uri: store, database: MONGODB_DB, create, maxPoolSize: MONGODB_POOL_SIZE, onMigrated };
  // That a database is not there is said as soon as elsewhere; a batch, and the count of all animals, may take longer.
  const probe = await openMongodbStore({ ...options, operationTimeoutMs: MONGODB_TIMEOUT_MS });
  try {
    await probe.ready();
  } finally {
    await probe.close();
  }
  return openMongodbTransfer(options);
}
