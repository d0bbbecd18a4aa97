import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { commandMissing } from '@petstore/testing/commandMissing';
import { lacksSmallDisks, mountSmallDisk } from '@petstore/testing/smallDisk';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { mongodbUri, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { hasRedis, startRedis } from '@petstore/testing/redis';
import { listening, logLines, type RunningService, startService } from '@petstore/testing/serviceProcess';
import { startProcess } from '@petstore/testing/startProcess';
import { attachStrace } from '@petstore/testing/strace';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderState } from './folder.ts';
import type { TestState } from './testing/openTestState.ts';

const faultyService = fileURLToPath(new URL('testing/faultyService.ts', import.meta.url));
const holdLock = fileURLToPath(new URL('testing/holdLock.ts', import.meta.url));

/** Starts the service that counts its orders, with a function that sends it an order. */
async function start(state: TestState) {
  const env = { ...process.env, STATE: JSON.stringify(state) };
  const service = await listening(startService(process.execPath, [faultyService], { env }));
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
  });
  let orders = 0;
  const order = async (key = `key-${(orders += 1)}`) => {
    const { headers, status } = await fetch(`${service.origin}/v1/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ text: key }),
    });
    return { status, isReplayed: headers.has('idempotent-replayed') };
  };
  return { service, order };
}

/** Stops a service, and returns its exit and how long that took. */
async function stop(service: RunningService) {
  const startedAt = performance.now();
  const exit = await service.stop();
  return { exit, ms: performance.now() - startedAt };
}

describe.skipIf(commandMissing('strace'))('a state folder whose disk fails', () => {
  it.each(['EIO', 'ENOSPC'])(
    'after %s on a meta page, calls with a key run again in the same process, and stored responses are replayed',
    async (error) => {
      const folder = await temporaryFolder();
      const { order, service } = await start({ folder: join(folder, 'state') });
      expect((await order('kept')).status).toBe(201);
      const output = join(folder, 'strace');
      const isHit = async () =>
        (await readFile(output, 'utf8'))
          .split('\n')
          .some((line) => /, 128, \d+\) += -1 .*INJECTED/.test(line));
      for (let attempt = 0; attempt < 40; attempt += 1) {
        // A commit writes its meta page last, after one to a few writes of other pages.
        const detach = await attachStrace(
          service.child.pid ?? 0,
          output,
          'pwrite64',
          `error=${error}:when=${2 + (attempt % 6)}`,
        );
        for (let at = 0; at < 5; at += 1) expect([201, 503]).toContain((await order()).status);
        await detach();
        if (await isHit()) break;
      }
      expect(await isHit()).toBe(true);
      await vi.waitFor(async () => expect((await order()).status).toBe(201), 5000);
      expect(await order('kept')).toEqual({ status: 201, isReplayed: true });
      expect((await stop(service)).exit).toEqual({ code: 0, signal: null });
    },
  );
});

it('a service whose state folder is locked by a suspended process answers calls with a key within 4 s, logs it, and ends within 10 s of SIGTERM', async () => {
  const path = join(await temporaryFolder(), 'state');
  const { order, service } = await start({ folder: path });
  const holder = startProcess(process.execPath, ['--conditions=trpc-gateway-source', holdLock, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout ?? holder, 'data');
  const startedAt = performance.now();
  expect((await order()).status).toBe(503);
  expect(performance.now() - startedAt).toBeLessThan(4000);
  await vi.waitFor(
    () => expect(logLines(service)).toContainEqual(expect.objectContaining({ level: 50, status: 503 })),
    5000,
  );
  expect((await stop(service)).ms).toBeLessThan(10_000);
  expect(service.stdout()).toContain('has not completed a write for 2 s: its disk hangs');
});

describe.skipIf(lacksSmallDisks())('a state folder on a full disk', () => {
  it('on a full disk calls with a key are 503 and others are served, and calls with a key run after space is freed', async () => {
    const disk = await temporaryFolder();
    mountSmallDisk(disk);
    const { order, service } = await start({ folder: join(disk, 'state') });
    expect((await order('kept')).status).toBe(201);
    const filler = await fill(disk);
    for (let at = 0; at < 5; at += 1) {
      expect((await order()).status).toBe(503);
      expect((await fetch(`${service.origin}/trpc/runs`)).status).toBe(200);
    }
    await rm(filler);
    await vi.waitFor(async () => expect((await order('key-1')).status).toBe(201), 5000);
    expect(await order('kept')).toEqual({ status: 201, isReplayed: true });
    expect((await stop(service)).exit).toEqual({ code: 0, signal: null });
  });

  it('folderState rejects a folder on a full disk with ENOSPC', async () => {
    const disk = await temporaryFolder();
    mountSmallDisk(disk);
    const filler = await fill(disk);
    const path = join(disk, 'state');
    expect(() => folderState({ path })).toThrow(/^The folder .* cannot be opened: .*ENOSPC/);
    await rm(filler);
    await folderState({ path }).close();
  });
});

interface Hanging {
  readonly isMissing: boolean;
  /** A new database. `stateAt` is the state on it behind a proxy. */
  readonly open: () => Promise<{
    readonly uri: string;
    readonly stateAt: (uri: string) => TestState;
    readonly remove: () => Promise<void>;
  }>;
  /** A text in the message that reserves a key, and one in the message that stores a response. */
  readonly reserves: string;
  readonly stores: string;
}

const mongodb: Hanging = {
  isMissing: mongodbUri === undefined,
  async open() {
    const { database, drop, uri } = testDatabase();
    return { uri, stateAt: (at) => ({ uri: at, database }), remove: drop };
  },
  reserves: 'insert',
  // What stores a response is an update with `upsert`.
  stores: 'upsert',
};

const redis: Hanging = {
  isMissing: !hasRedis,
  async open() {
    const { remove, url } = await startRedis();
    return { uri: url, stateAt: (at) => ({ redis: at }), remove };
  },
  // Parts of the scripts.
  reserves: "'NX', 'PX'",
  stores: "ARGV[1], 'PX'",
};

describe.each([
  ['MongoDB', mongodb],
  ['Redis', redis],
])('a database that hangs: %s', (_name, { isMissing, open, reserves, stores }) => {
  /** A service whose database hangs from the next message on that contains a text. */
  async function startHanging(text: string) {
    const { remove, stateAt, uri } = await open();
    let hangsAt: string | undefined;
    const proxy = await startFaultProxy(uri, (message) => {
      if (hangsAt === undefined || !message.includes(hangsAt)) return;
      proxy.set({ kind: 'freeze' });
      hangsAt = undefined;
    });
    onTestFinished(async () => {
      await proxy.close();
      await remove();
    });
    const { order, service } = await start(stateAt(proxy.uri));
    expect((await order('kept')).status).toBe(201);
    hangsAt = text;
    return { order, service, recover: () => proxy.set({ kind: 'none' }) };
  }

  /** Sends an order. @returns its status, after at most 4 s */
  async function statusOf(order: Awaited<ReturnType<typeof start>>['order'], key: string): Promise<number> {
    const startedAt = performance.now();
    const { status } = await order(key);
    expect(performance.now() - startedAt).toBeLessThan(4000);
    return status;
  }

  async function stopsInOrder(service: RunningService): Promise<void> {
    const { exit, ms } = await stop(service);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(10_000);
  }

  it.skipIf(isMissing)(
    'a service whose database hangs while a key is reserved answers 503 within 4 s, logs it, and stops in order within 10 s of SIGTERM',
    async () => {
      const { order, service } = await startHanging(reserves);
      expect(await statusOf(order, 'key')).toBe(503);
      await vi.waitFor(
        () => expect(logLines(service)).toContainEqual(expect.objectContaining({ level: 50, status: 503 })),
        5000,
      );
      await stopsInOrder(service);
    },
  );

  it.skipIf(isMissing)(
    'a service whose database hangs while a response is stored responds with 201 within 4 s, logs it, and stores the response once the database responds',
    async () => {
      const { order, recover, service } = await startHanging(stores);
      expect(await statusOf(order, 'key')).toBe(201);
      await vi.waitFor(
        () =>
          expect(logLines(service)).toContainEqual(
            expect.objectContaining({ level: 50, status: 201, err: expect.anything() }),
          ),
        5000,
      );
      expect(await statusOf(order, 'key')).toBe(503);
      // Until the first attempt has ended, after 5 s: the response must be stored by another one.
      await sleep(5500);
      recover();
      await vi.waitFor(
        async () => expect(await order('key')).toEqual({ status: 201, isReplayed: true }),
        15_000,
      );
      await stopsInOrder(service);
    },
  );

  it.skipIf(isMissing)(
    'a service whose database hangs while a response is stored stops in order within 10 s of SIGTERM',
    async () => {
      const { order, service } = await startHanging(stores);
      expect(await statusOf(order, 'key')).toBe(201);
      await stopsInOrder(service);
    },
  );
});

/** Fills a disk. @returns the file that does */
async function fill(disk: string): Promise<string> {
  const filler = join(disk, 'filler');
  await writeFile(filler, Buffer.alloc(3_000_000)).catch(() => {});
  return filler;
}
