import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { TRPCError, type TrackedEnvelope } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { folderEventLog } from './folder.ts';
import { type EventLog, memoryEventLog, resumable, type Resumable, type ResumableOptions } from './index.ts';

type TestOptions = Partial<Omit<ResumableOptions<string>, 'log' | 'name' | 'event'>>;

/** Opens the runs of a process of a service. */
function openRuns(log: EventLog, options: TestOptions = {}): Resumable<string> {
  const runs = resumable({ log, name: 'answers', event: z.string(), onError: () => {}, ...options });
  onTestFinished(() => runs.close());
  return runs;
}

function openMemory(): EventLog {
  const log = memoryEventLog();
  onTestFinished(() => log.close());
  return log;
}

/** A producer that a test controls. */
class TestProducer {
  calls = 0;
  signal: AbortSignal | undefined = undefined;
  readonly #steps: ((() => string) | undefined)[] = [];
  #wake = () => {};

  send(...events: string[]): void {
    this.#add(...events.map((event) => () => event));
  }

  end(): void {
    this.#add(undefined);
  }

  fail(error: unknown): void {
    this.#add(() => {
      throw error;
    });
  }

  readonly produce = async function* (this: TestProducer, signal: AbortSignal) {
    this.calls += 1;
    this.signal = signal;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- until the test sends more
      if (this.#steps.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      const step = this.#steps.shift();
      if (step === undefined) return;
      yield step();
    }
  }.bind(this);

  #add(...steps: ((() => string) | undefined)[]): void {
    this.#steps.push(...steps);
    this.#wake();
  }
}

/** A client of a run. It disconnects at the end of the test. */
async function connect(runs: Resumable<string>, { produce }: TestProducer, lastEventId?: string) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const events = await runs.join('a', { lastEventId, signal: controller.signal, produce });
  const iterator = events[Symbol.asyncIterator]();
  return {
    disconnect: () => controller.abort(),
    /** Reads events. */
    async take(count: number) {
      const taken: TrackedEnvelope<string>[] = [];
      while (taken.length < count) {
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        const { done, value } = await iterator.next();
        if (done) throw new Error('The run has ended.');
        taken.push(value);
      }
      return { texts: taken.map(([, text]) => text), lastEventId: taken.at(-1)?.[0] };
    },
    next: () => iterator.next(),
  };
}

const stoppedFor = (reason: string) => ({ declaredCode: 'RUN_STOPPED', data: { reason } });

describe('resumable', () => {
  it('the producer runs once for all clients of a key, in all processes, and each client gets all its events', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const processes = [openRuns(log), openRuns(log), openRuns(log)];
    const clients = await Promise.all(
      Array.from({ length: 200 }, (_, at) => connect(processes[at % 3] ?? openRuns(log), producer)),
    );
    producer.send('Once', ' upon', ' a time');
    producer.end();
    for (const client of clients) {
      expect((await client.take(3)).texts).toEqual(['Once', ' upon', ' a time']);
      expect(await client.next()).toMatchObject({ done: true });
    }
    expect(producer.calls).toBe(1);
  });

  it('the run goes on while its client is away, which continues after its last event', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const client = await connect(openRuns(log), producer);
    producer.send('a', 'b');
    const { lastEventId } = await client.take(1);
    client.disconnect();
    expect(await client.next()).toMatchObject({ done: true });
    producer.send('c');
    producer.end();
    const resumed = await connect(openRuns(log), producer, lastEventId);
    expect((await resumed.take(2)).texts).toEqual(['b', 'c']);
    expect(await resumed.next()).toMatchObject({ done: true });
    const reloaded = await connect(openRuns(log), producer);
    expect((await reloaded.take(3)).texts).toEqual(['a', 'b', 'c']);
    expect(producer.calls).toBe(1);
  });

  it('a TRPCError of the producer reaches all clients, also those that come later', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const first = await connect(openRuns(log), producer);
    producer.send('a');
    producer.fail(new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'The model is busy.' }));
    for (const client of [first, await connect(openRuns(log), producer)]) {
      await client.take(1);
      await expect(client.next()).rejects.toMatchObject({
        code: 'TOO_MANY_REQUESTS',
        message: 'The model is busy.',
      });
    }
  });

  it('any other error is reported, and clients get the reason failed without its message', async () => {
    const onError = vi.fn<(error: unknown, key: string) => void>();
    const producer = new TestProducer();
    const client = await connect(openRuns(openMemory(), { onError }), producer);
    const error = new Error('password=hunter2');
    producer.fail(error);
    await expect(client.next()).rejects.toMatchObject(stoppedFor('failed'));
    await expect.poll(() => onError.mock.calls).toEqual([[error, 'a']]);
  });

  it.each<[reason: string, options: TestOptions]>([
    ['duration', { maxDurationMs: 30 }],
    ['size', { maxSize: 20 }],
  ])('a run that exceeds its limit is stopped with the reason %s', async (reason, options) => {
    const producer = new TestProducer();
    const client = await connect(openRuns(openMemory(), options), producer);
    producer.send('12345', '12345');
    await client.take(2);
    if (reason === 'size') producer.send('1234567890');
    await expect(client.next()).rejects.toMatchObject(stoppedFor(reason));
    expect(producer.signal?.aborted).toBe(true);
  });

  it('a run is stopped when no client has read it for a time, and goes on while one reads it anywhere', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const runs = openRuns(log, { abandonedMs: 200 });
    const starter = await connect(runs, producer);
    producer.send('a');
    await starter.take(1);
    const other = await connect(openRuns(log, { abandonedMs: 200 }), producer);
    await other.take(1);
    starter.disconnect();
    await starter.next();
    const pending = other.next();
    await sleep(600);
    expect(producer.signal?.aborted).toBe(false);
    other.disconnect();
    await pending;
    await expect.poll(() => producer.signal?.aborted).toBe(true);
    const late = await connect(runs, producer);
    await late.take(1);
    await expect(late.next()).rejects.toMatchObject(stoppedFor('abandoned'));
  });

  it('close stops the runs of the process with the reason shutdown', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const runs = openRuns(log);
    await connect(runs, producer);
    const other = await connect(openRuns(log), producer);
    const stopped = other.next().catch((error: unknown) => error);
    await runs.close();
    expect(await stopped).toMatchObject(stoppedFor('shutdown'));
  });

  it('clients get the reason lost within 2 s after the process of the producer was killed', async () => {
    const path = join(await temporaryFolder(), 'state');
    const log = folderEventLog({ path });
    onTestFinished(() => log.close());
    const index = JSON.stringify(new URL('index.ts', import.meta.url).href);
    const folder = JSON.stringify(new URL('folder.ts', import.meta.url).href);
    const program = `
      const { resumable } = await import(${index});
      const { folderEventLog } = await import(${folder});
      const { z } = await import('zod');
      const log = folderEventLog(${JSON.stringify({ path })});
      const runs = resumable({ log, name: 'answers', event: z.string(), onError: console.error });
      const produce = async function* () {
        yield 'first';
        await new Promise((resolve) => process.on('message', resolve));
      };
      const events = await runs.join('a', { signal: new AbortController().signal, produce });
      for await (const event of events) process.send('running');`;
    const child = fork('-', [], {
      execArgv: ['--conditions=trpc-gateway-source', '--input-type=module', '-e', program],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await new Promise((resolve) => child.once('message', resolve));
    const producer = new TestProducer();
    const clients = [await connect(openRuns(log), producer), await connect(openRuns(log), producer)];
    for (const client of clients) expect((await client.take(1)).texts).toEqual(['first']);
    // It is alive: no reason to stop.
    const pending = clients.map((client) => client.next().catch((error: unknown) => error));
    expect(await Promise.race([...pending, sleep(2500, 'alive')])).toBe('alive');
    child.kill('SIGKILL');
    const killedAt = performance.now();
    for (const each of pending) expect(await each).toMatchObject(stoppedFor('lost'));
    expect(performance.now() - killedAt).toBeLessThan(2500);
    expect(producer.calls).toBe(0);
  });
});
