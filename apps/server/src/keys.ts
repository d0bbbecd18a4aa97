import { issueKey, type KeyRecord, type Store, StoreError } from '@petstore/core';
import { CommandError } from './commandError.ts';
import type { Command } from './commandLine.ts';
import type { Configuration } from './configuration.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { keyExpiry } from './keyExpiry.ts';

/** The names that `keys add` takes: what a terminal shows as it is. */
const keyName = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u;

export type KeysCommand = Extract<Command, { readonly run: `keys ${string}` }>;

/** Runs a `keys` command on the configured store, which servers may be using. @returns what is printed */
export async function runKeys(command: KeysCommand, configuration: Configuration): Promise<string> {
  // Before a store is made for a key that will not be.
  const added = command.run === 'keys add' ? newKey(command) : undefined;
  // A list of no keys, of a folder that nobody meant, would be taken for the servers'.
  const store = await openConfiguredStore(configuration, { create: added !== undefined });
  try {
    if (added !== undefined) return await addKey(store, added);
    if (command.run === 'keys revoke') return await revokeKey(store, command.name);
    return await listKeys(store);
  } finally {
    await store.close();
  }
}

interface NewKey {
  readonly key: string;
  readonly record: KeyRecord;
}

function newKey({ name, expires }: Extract<KeysCommand, { readonly run: 'keys add' }>): NewKey {
  if (!keyName.test(name)) {
    throw new CommandError(
      `${JSON.stringify(name)} cannot be a key's name: it takes 1 to 64 printable characters.`,
    );
  }
  const { key, hash } = issueKey();
  const createdAt = Date.now();
  const expiresAt = expires === undefined ? undefined : keyExpiry(expires, createdAt);
  return { key, record: { hash, name, createdAt, ...(expiresAt !== undefined && { expiresAt }) } };
}

/** @returns the new key, which is never seen again */
async function addKey(store: Store, { key, record }: NewKey): Promise<string> {
  try {
    await store.keys.add(record);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    throw new CommandError(
      `There is a key named ${JSON.stringify(record.name)} already: names are given once, also those of revoked keys.`,
      { cause: error },
    );
  }
  return key;
}

/** A table for people, the oldest key first. */
async function listKeys(store: Store): Promise<string> {
  const keys = await store.keys.list();
  const rows = [['NAME', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'], ...keys.map(row)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

const row = ({ name, createdAt, expiresAt, lastUsedAt, revokedAt }: KeyRecord) => [
  name,
  time(createdAt),
  time(expiresAt),
  time(lastUsedAt),
  time(revokedAt),
];

const time = (at: number | undefined) => (at === undefined ? '-' : new Date(at).toISOString());

async function revokeKey(store: Store, name: string): Promise<string> {
  const revoked = await store.keys.revoke(name, Date.now());
  if (revoked === undefined) throw new CommandError(`There is no key named ${JSON.stringify(name)}.`);
  return `Revoked ${JSON.stringify(name)}: within 5 seconds no process accepts it.`;
}
