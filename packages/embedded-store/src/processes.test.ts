import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { commandMissing } from '@petstore/testing/commandMissing';
import { holdWriteLock } from '@petstore/testing/holdWriteLock';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { collections, Animal, animals } from '@petstore/core';
import { backupFolder, openEmbeddedStore, verifyFolder } from './index.ts';
import { readInProcess, runStoreProcess, storeProcessArguments } from './testing/runStoreProcess.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = join(await temporaryFolder(), 'data');
});

test('processes that start concurrently on a new folder assign unique ids without gaps', async () => {
  const children = Array.from({ length: 4 }, () => runStoreProcess(['create', dataDir, '250']));
  const ended = await Promise.all(children);
  const created = ended.flatMap(({ results }) => z.array(z.array(Animal)).parse(results).flat());
  expect(created.map(({ id }) => id).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 1000 }, (_, index) => index + 1),
  );

  const store = await openEmbeddedStore({ dataDir, collections });
  for (const animal of created) expect(await store.collection(animals).get(animal.id)).toEqual(animal);
  await store.close();
});

test('get returns an animal that another process acknowledged in the same turn of the event loop', async () => {
  const store = await openEmbeddedStore({ dataDir, collections });
  expect(await store.collection(animals).list({ limit: 1 })).toEqual({ records: [], hasNext: false });
  const before = store.collection(animals).get(1);
  const created: unknown = JSON.parse(
    execFileSync(process.execPath, storeProcessArguments('create', dataDir, '1'), { encoding: 'utf8' }),
  );
  const after = store.collection(animals).get(1);
  expect([before, after]).toEqual([undefined, ...z.array(Animal).parse(created)]);
  await store.close();
});

test('while another process holds the write lock, reads succeed and writes fail after 10 s', async () => {
  const store = await openEmbeddedStore({ dataDir, collections });
  await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  const holder = await holdWriteLock(join(dataDir, 'petstore.mdb'));

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const rejection = store
    .collection(animals)
    .create({ name: 'Bello', categoryId: 1 })
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await rejection).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('has not completed a write for 10 s'),
  });
  expect(store.collection(animals).get(1)).toEqual({ id: 1, name: 'Rex', categoryId: 1 });
  expect(() => store.ready()).toThrow('has not completed a write for 10 s');
  await expect(store.collection(animals).create({ name: 'Hasso', categoryId: 1 })).rejects.toMatchObject({
    code: 'unavailable',
  });
  vi.useRealTimers();

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await vi.waitFor(() => store.ready());
  expect(await store.collection(animals).create({ name: 'Waldi', categoryId: 1 })).toEqual({
    id: 2,
    name: 'Waldi',
    categoryId: 1,
  });
  expect(await store.collection(animals).list({ limit: 20 })).toMatchObject({
    records: [{ name: 'Rex' }, { name: 'Waldi' }],
  });
  await store.close();
});

test('close({ timeoutMs }) rejects at its deadline while another process holds the write lock', async () => {
  const store = await openEmbeddedStore({ dataDir, collections });
  const holder = await holdWriteLock(join(dataDir, 'petstore.mdb'));
  const creates = ['Rex', 'Bello'].map((name) => store.collection(animals).create({ name, categoryId: 1 }));
  const ended = Promise.allSettled(creates);

  const since = performance.now();
  await expect(store.close({ timeoutMs: 300 })).rejects.toMatchObject({
    code: 'outcome-unknown',
    message: `The data folder ${dataDir} was closed, but a write did not complete within 0.3 s: its disk hangs, or a process that shares it is suspended.`,
  });
  expect(performance.now() - since).toBeLessThan(5_000);
  // Neither has started without the lock, so both are known not to be stored.
  const notStored = { status: 'rejected', reason: { code: 'unavailable' } };
  expect(await ended).toMatchObject([notStored, notStored]);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const next = await openEmbeddedStore({ dataDir, collections });
  expect(await next.collection(animals).create({ name: 'Waldi', categoryId: 1 })).toMatchObject({ id: 1 });
  await next.close();
});

test.runIf(process.platform === 'linux')(
  'openEmbeddedStore, verifyFolder and backupFolder name the suspended process that holds the write lock for 10 s, and a later open waits until it has ended',
  async () => {
    await (await openEmbeddedStore({ dataDir, collections })).close();
    const holder = await holdWriteLock(join(dataDir, 'petstore.mdb'));
    holder.kill('SIGSTOP');
    const { pid } = holder;
    const opened = await Promise.allSettled([
      openEmbeddedStore({ dataDir, collections }),
      verifyFolder({ dataDir, tables: [], collections, onTable: () => {} }),
      backupFolder({ dataDir, to: `${dataDir}-copy` }),
    ]);
    const reason = {
      code: 'unavailable',
      message: `The data folder ${dataDir} cannot be opened: process ${pid} has held its write lock for 10 s. If that process is suspended or hangs, resume it (kill -CONT ${pid}) or end it, and try again.`,
    };
    expect(opened).toMatchObject(opened.map(() => ({ status: 'rejected', reason })));

    const opening = openEmbeddedStore({ dataDir, collections });
    await new Promise((resolve) => setTimeout(resolve, 500));
    holder.kill('SIGKILL');
    const store = await opening;
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 1 });
    await store.close();
  },
);

test.skipIf(commandMissing('strace'))(
  'after an EIO on a meta page every later call fails with fatal, and the store can be closed',
  { timeout: 240_000 },
  async () => {
    await runStoreProcess(['create', dataDir, '1']);
    // It hits data pages first, from which the store recovers, and a meta page in the end.
    const inject = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EIO:when=5+3'];
    // --seccomp-bpf: otherwise every system call of the process waits for strace, which takes a minute on a busy machine.
    const tracer = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', ...inject];
    const { results, exitCode } = await runStoreProcess(['createUntilFatal', dataDir], { tracer });
    const message = `LMDB reported a fatal error in the data folder ${dataDir}, so this process can no longer use it. Check the disk, and restart the process.`;
    expect(results.slice(-4)).toEqual([
      { fatal: message },
      { code: 'outcome-unknown', message: expect.stringContaining('failed during a write (EIO)') },
      { code: 'fatal', message },
      { code: 'fatal', message },
    ]);
    expect(exitCode).toBe(0);
    expect(await readInProcess(dataDir)).toBe('read');
  },
);
