import { issueKey, type KeyRecord, type Store, StoreError } from '@petstore/core';
import { CommandError } from './commandError.ts';
import type { Command } from './commandLine.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { openStore } from '../store/openStore.ts';
import { keyExpiry } from './keyExpiry.ts';

/** Names that `keys add` accepts: 1 to 64 printable characters. */
const keyName = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u;

export type KeysCommand = Extract<Command, { readonly run: `keys ${string}` }>;

/** Runs a `keys` command on the configured store, which servers may be using. @returns the text to print */
export async function runKeys(command: KeysCommand, configuration: Configuration): Promise<string> {
  // Validates the arguments before a store is created.
  const newKey = command.run === 'keys add' ? createKey(command) : undefined;
  // Only `keys add` creates a store: an empty list of a mistyped folder would look like the servers' list.
  const store = await openStore(configuration, { create: newKey !== undefined });
  try {
    if (newKey !== undefined) return await addKey(store, newKey);
    if (command.run === 'keys revoke') return await revokeKey(store, command.name);
    return await listKeys(store);
  } finally {
    await store.close();
  }
}

function createKey({ name, expires }: Extract<KeysCommand, { readonly run: 'keys add' }>) {
  if (!keyName.test(name)) {
    throw new CommandError(
      `${JSON.stringify(name)} is not a valid name of a key; it must be 1 to 64 printable characters.`,
    );
  }
  const { key, hash } = issueKey();
  const createdAt = Date.now();
  const expiresAt = expires === undefined ? undefined : keyExpiry(expires, createdAt);
  return { key, record: { hash, name, createdAt, ...(expiresAt !== undefined && { expiresAt }) } };
}

/** @returns the new key, which cannot be shown again */
async function addKey(store: Store, { key, record }: ReturnType<typeof createKey>): Promise<string> {
  try {
    await store.keys.add(record);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    throw new CommandError(
      `A key named ${JSON.stringify(record.name)} already exists. Names cannot be used again, not even those of revoked keys.`,
      { cause: error },
    );
  }
  return key;
}

/** Formats a table of the keys, oldest first. */
async function listKeys(store: Store): Promise<string> {
  const keys = await store.keys.list();
  const rows = [['NAME', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'], ...keys.map(tableRow)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

const tableRow = ({ name, createdAt, expiresAt, lastUsedAt, revokedAt }: KeyRecord) => [
  name,
  formatTime(createdAt),
  formatTime(expiresAt),
  formatTime(lastUsedAt),
  formatTime(revokedAt),
];

const formatTime = (at: number | undefined) => (at === undefined ? '-' : new Date(at).toISOString());

async function revokeKey(store: Store, name: string): Promise<string> {
  const revoked = await store.keys.revoke(name, Date.now());
  if (revoked === undefined) throw new CommandError(`There is no key named ${JSON.stringify(name)}.`);
  return `Revoked ${JSON.stringify(name)}. Every process rejects it within 5 seconds.`;
}
