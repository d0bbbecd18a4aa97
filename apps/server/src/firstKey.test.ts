import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hashKey, type KeyRecord, type KeyStore, StoreError } from '@petstore/core';
import { describe, expect, test, vi } from 'vitest';
import { runKeys } from './commands/keys.ts';
import { readConfiguration } from './configuration/configuration.ts';
import { makeFirstKey } from './firstKey.ts';
import { openStore } from './store/openStore.ts';
import { commandMissing } from '@petstore/testing/commandMissing';
import { logLines } from '@petstore/testing/serviceProcess';
import { apiKey, newFolder } from '../test/testing/newFolder.ts';
import { listPets } from '../test/testing/petCalls.ts';

const execute = promisify(execFile);
const keyOf = (text: string) => /psk_[\w-]{43}/.exec(text)?.[0] ?? 'none';

/** Returns the curl command of the notice, with its continuation lines. */
const curlIn = (notice: string) => /^curl (?:.*\\\n)*.*$/m.exec(notice)?.[0] ?? 'none';

describe('the first start on a new store', () => {
  test('the first start prints a key with a curl command and a docs page that work, and logs no key', async () => {
    const { serve } = await newFolder();
    const { origin, stop, stderr, stdout } = await serve({
      env: { LOG_LEVEL: 'trace', LOG_REQUESTS: 'all' },
    });
    const key = keyOf(stderr());
    const response = await listPets(origin, { key });
    expect(await response.json()).toEqual([]);
    const pasted = commandMissing('curl') ? undefined : await execute('bash', ['-c', curlIn(stderr())]);
    expect(pasted?.stdout ?? '[]').toBe('[]');
    const [, url = ''] = /^The docs page, .*: (\S+)$/m.exec(stderr()) ?? [];
    expect(await (await fetch(url)).text()).toContain('<title>API reference</title>');
    await stop();
    expect(stdout()).not.toContain(key);
  });

  test('exactly one of several processes that start concurrently prints the first key', async () => {
    const { serve } = await newFolder();
    const servers = await Promise.all([serve(), serve(), serve(), serve()]);
    const shown = servers.map(({ stderr }) => stderr()).filter((text) => text !== '');
    expect(shown).toHaveLength(1);
    for (const { origin } of servers) {
      const key = keyOf(shown[0] ?? '');
      await vi.waitFor(async () => expect((await listPets(origin, { key })).status).toBe(200));
    }
  });

  test('the first start with API_KEY creates no key and accepts API_KEY', async () => {
    const { serve, inProcess } = await newFolder();
    const { origin, stderr } = await serve({ env: { API_KEY: apiKey } });
    const received = await listPets(origin);
    expect(received.status).toBe(200);
    expect(stderr()).toBe('');
    const { stdout } = await inProcess((configuration) => runKeys({ run: 'keys list' }, configuration));
    expect(stdout).toBe('NAME  CREATED  EXPIRES  LAST USED  REVOKED\n');
  });
});

test('a start prints nothing but its log if the store had a key, even one that was revoked', async () => {
  const { serve, dataDir } = await newFolder();
  const store = await openStore(readConfiguration({ DATA_DIR: dataDir }));
  await store.keys.add({ name: 'mine', hash: 'hash', createdAt: 1 });
  await store.keys.revoke('mine', 2);
  await store.close();
  const server = await serve();
  expect(server.stderr()).toBe('');
  expect(logLines(server).filter(({ level }) => level === 30)).toMatchObject([{ msg: 'listening' }]);
});

describe('makeFirstKey with lost responses of the store', () => {
  const lost = new StoreError('outcome-unknown', 'no response');

  /** A key store in memory. The first `responses` calls of `addFirst` fail, after or before they have an effect. */
  function keysThatLose(responses: number, { carriedOut }: { readonly carriedOut: boolean }) {
    const records: KeyRecord[] = [];
    const keys = {
      addFirst: async (record) => {
        const isLost = responses-- > 0;
        if (records.length === 0 && (carriedOut || !isLost)) records.push(record);
        if (isLost) throw lost;
        return records[0]?.hash === record.hash;
      },
    } satisfies Pick<KeyStore, 'addFirst'>;
    return { records, store: { keys: keys as unknown as KeyStore } };
  }

  test.for([{ carriedOut: true }, { carriedOut: false }])(
    'makeFirstKey retries after a lost response, and creates and returns one key (%o)',
    async (how) => {
      const { records, store } = keysThatLose(1, how);
      const key = await makeFirstKey(store, new AbortController().signal);
      expect(records.map(({ hash }) => hash)).toEqual([hashKey(key ?? '')]);
    },
  );

  test('makeFirstKey does not retry after its signal aborts', async () => {
    const { store } = keysThatLose(3, { carriedOut: false });
    const stopping = new AbortController();
    const making = makeFirstKey(store, stopping.signal);
    stopping.abort();
    expect(await making).toBeUndefined();
  });

  test('makeFirstKey does not retry if the store was closed', async () => {
    const closed = new StoreError('closed', 'The store was closed.');
    const addFirst = vi.fn<KeyStore['addFirst']>().mockRejectedValueOnce(closed).mockResolvedValue(true);
    const store = { keys: { addFirst } as unknown as KeyStore };
    await expect(makeFirstKey(store, new AbortController().signal)).rejects.toBe(closed);
  });

  test('makeFirstKey without a signal rejects with the first error', async () => {
    const { store } = keysThatLose(1, { carriedOut: false });
    await expect(makeFirstKey(store)).rejects.toBe(lost);
  });
});
