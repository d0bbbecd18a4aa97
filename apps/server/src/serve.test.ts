import { networkInterfaces } from 'node:os';
import { collections, type Store, StoreError } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startServer } from './serve.ts';
import { startServerInProcess } from '../test/testing/startServerInProcess.ts';
import { takenPort } from '../test/testing/takenPort.ts';
import { readConfiguration } from './configuration/configuration.ts';

/** Opens a store in a new folder that counts `close`. @param change returns replacements of methods */
async function countingStore(change: (store: Store) => Partial<Store> = () => ({})) {
  const dataDir = await temporaryFolder();
  const opened = await openEmbeddedStore({ dataDir, collections });
  onTestFinished(() => opened.close());
  const close = vi.fn<Store['close']>(() => opened.close());
  return { close, openStore: async () => ({ ...opened, close, ...change(opened) }) };
}

test('startServer closes the store if the port is in use', async () => {
  const PORT = await takenPort();
  const { close, openStore } = await countingStore();
  const configuration = readConfiguration({ PORT, LOG_LEVEL: 'silent' });
  await expect(startServer(configuration, { openStore })).rejects.toThrow(`PORT is ${PORT}`);
  expect(close).toHaveBeenCalledOnce();
});

test('startServer fails with the error of the store and closes it if the first key cannot be created', async () => {
  const full = new StoreError('full', 'The disk is full.');
  const { close, openStore } = await countingStore(({ keys }) => ({
    keys: { ...keys, addFirst: () => Promise.reject(full) },
  }));
  const configuration = readConfiguration({ PORT: '0', LOG_LEVEL: 'silent' });
  await expect(startServer(configuration, { openStore })).rejects.toBe(full);
  expect(close).toHaveBeenCalledOnce();
});

test('every start on a terminal says where the data and the docs page are', async () => {
  const { openStore } = await countingStore(({ keys }) => ({
    keys: { ...keys, addFirst: async () => false },
  }));
  const configuration = readConfiguration({ PORT: '0', DATA_DIR: '/pets', LOG_LEVEL: 'silent' });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const wasTTY = process.stderr.isTTY;
  process.stderr.isTTY = true;
  const server = await startServer(configuration, { openStore });
  process.stderr.isTTY = wasTTY;
  const written = write.mock.calls.flat().join('');
  write.mockRestore();
  await server.close();
  expect(written).toContain(`The pet store of the data folder /pets. Docs page: ${server.origin}/docs\n`);
});

test('close waits for the creation of the first key before it closes the store', async () => {
  const adding = Promise.withResolvers<void>();
  const added = Promise.withResolvers<boolean>();
  const { close, openStore } = await countingStore(({ keys }) => ({
    keys: {
      ...keys,
      addFirst() {
        adding.resolve();
        return added.promise;
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
  await adding.promise;
  const stopped = server.close();
  await vi.waitFor(() => expect(fetch(`${server.origin}/healthz`)).rejects.toThrow('fetch failed'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(close).not.toHaveBeenCalled();
  added.resolve(false);
  await stopped;
  expect(close).toHaveBeenCalledOnce();
});

const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
test.skipIf(!addresses.some(({ address }) => address === '::1')).each([
  ['0.0.0.0', 'http://127.0.0.1:'],
  ['::', 'http://[::1]:'],
  ['::1', 'http://[::1]:'],
  ['localhost', 'http://localhost:'],
])('startServer with HOST=%s has an origin that this machine can reach', async (HOST, prefix) => {
  const { origin } = await startServerInProcess({ HOST });
  expect(origin.startsWith(prefix)).toBe(true);
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
});
