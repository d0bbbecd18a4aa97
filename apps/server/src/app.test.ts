import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { reservePort } from 'trpc-gateway/listen';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startServer } from './app.ts';
import { readConfiguration } from './configuration.ts';

/**
 * Opens a store in a new folder that counts calls of `close`.
 * @param change returns replacements for methods of the store
 */
async function countingStore(change: (store: Store) => Partial<Store> = () => ({})) {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  const opened = await openEmbeddedStore({ dataDir });
  onTestFinished(async () => {
    await opened.close();
    await rm(dataDir, { recursive: true });
  });
  const close = vi.fn<Store['close']>(() => opened.close());
  return { close, openStore: async () => ({ ...opened, close, ...change(opened) }) };
}

test('startServer closes the store if the port is in use', async () => {
  const taken = await reservePort('127.0.0.1', 0, false);
  onTestFinished(() => taken.release());
  const { close, openStore } = await countingStore();
  const configuration = readConfiguration({ PORT: String(taken.port), LOG_LEVEL: 'silent' });
  await expect(startServer(configuration, { openStore })).rejects.toThrow(`PORT is ${taken.port}`);
  expect(close).toHaveBeenCalledOnce();
});

test('close waits for the creation of the first key before it closes the store', async () => {
  let adding = () => {};
  const isAdding = new Promise<void>((resolve) => (adding = resolve));
  let added: (isFirst: boolean) => void = () => {};
  const response = new Promise<boolean>((resolve) => (added = resolve));
  const { close, openStore } = await countingStore(({ keys }) => ({
    keys: {
      ...keys,
      addFirst() {
        adding();
        return response;
      },
    },
  }));
  // Only with a database the start does not wait for the key.
  const configuration = readConfiguration({
    PORT: '0',
    MONGODB_URI: 'mongodb://127.0.0.1:1',
    LOG_LEVEL: 'silent',
  });
  const server = await startServer(configuration, { openStore });
  await isAdding;
  const stopped = server.close();
  await vi.waitFor(() => expect(fetch(`${server.origin}/healthz`)).rejects.toThrow('fetch failed'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(close).not.toHaveBeenCalled();
  added(false);
  await stopped;
  expect(close).toHaveBeenCalledOnce();
});
