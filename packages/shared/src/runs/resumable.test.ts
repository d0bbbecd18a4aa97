import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError, type TrackedEnvelope } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  beginning,
  type EventLog,
  memoryEventLog,
  resumable,
  type Resumable,
  type ResumableOptions,
} from '../index.ts';
import { cutLog } from '../events/testing/cutLog.ts';

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

/** A log in memory with the records that are appended to it, each after the name of its channel. */
function recordingLog() {
  const log = openMemory();
  const records: string[] = [];
  const append: EventLog['append'] = (channel, record, keep) => {
    records.push(`${channel} ${record}`);
    return log.append(channel, record, keep);
  };
  return { log: { ...log, append }, with: (text: string) => records.filter((each) => each.includes(text)) };
}

/** A log whose channels with a prefix can be emptied: then these have nothing of what was appended before. */
function emptiableLog(prefix = '') {
  const [before, after] = [openMemory(), openMemory()];
  const emptying = new AbortController();
  const { signal: emptied } = emptying;
  const log: EventLog = {
    ...before,
    append: (channel, ...args) =>
      (emptied.aborted && channel.startsWith(prefix) ? after : before).append(channel, ...args),
    async *read(channel, from, signal) {
      const isKept = !channel.startsWith(prefix);
      const hasOld = isKept || !emptied.aborted;
      if (hasOld) yield* before.read(channel, from, isKept ? signal : AbortSignal.any([signal, emptied]));
      if (!signal.aborted) yield* after.read(channel, hasOld ? 'old-1' : from, signal);
    },
  };
  return { log, empty: () => emptying.abort() };
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
async function connect(runs: Resumable<string>, { produce }: TestProducer, lastEventId?: string, key = 'a') {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const events = await runs.join(key, { caller: 'ada', lastEventId, signal: controller.signal, produce });
  const iterator = events[Symbol.asyncIterator]();
  return {
    disconnect: () => controller.abort(),
    /** Reads events. */
    async take(count: number) {
      const taken: TrackedEnvelope<string>[] = [];
      while (taken.length < count) {
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
  it('the producer runs once for 200 clients of a key in four processes, which get all its events, and report with few records that they read', async () => {
    const { log, with: recordsWith } = recordingLog();
    const producer = new TestProducer();
    const processes = Array.from({ length: 4 }, () => openRuns(log));
    const clients = await Promise.all(
      Array.from({ length: 50 }, () => processes.map((each) => connect(each, producer))).flat(),
    );
    const pending = clients.map((client) => client.take(3));
    await sleep(1500);
    producer.send('Once', ' upon', ' a time');
    producer.end();
    for (const { texts } of await Promise.all(pending)) expect(texts).toEqual(['Once', ' upon', ' a time']);
    for (const client of clients) expect(await client.next()).toMatchObject({ done: true });
    expect(producer.calls).toBe(1);
    const reports = recordsWith('"reading"');
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(clients.length);
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
    producer.fail(new TRPCError({ code: 'PAYLOAD_TOO_LARGE', message: 'Too long for the model.' }));
    for (const client of [first, await connect(openRuns(log), producer)]) {
      await client.take(1);
      await expect(client.next()).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        message: 'Too long for the model.',
      });
    }
  });

  it.each([
    'TOO_MANY_REQUESTS',
    'NOT_IMPLEMENTED',
    'BAD_GATEWAY',
    'SERVICE_UNAVAILABLE',
    'GATEWAY_TIMEOUT',
  ] as const)(
    '%s of the producer ends the run with the reason failed: clients would connect again after it, and get it again',
    async (code) => {
      const onError = vi.fn<(error: unknown, key: string) => void>();
      const producer = new TestProducer();
      const client = await connect(openRuns(openMemory(), { onError }), producer);
      producer.fail(new TRPCError({ code, message: 'The model is busy.' }));
      await expect(client.next()).rejects.toMatchObject({
        ...stoppedFor('failed'),
        message: 'The model is busy.',
      });
      expect(onError).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['an Error', new Error('password=hunter2')],
    ['a text', 'password=hunter2'],
    ['an internal error', new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'password=hunter2' })],
  ])('%s that is thrown is reported, and clients get the reason failed without it', async (_, error) => {
    const onError = vi.fn<(error: unknown, key: string) => void>();
    const producer = new TestProducer();
    const client = await connect(openRuns(openMemory(), { onError }), producer);
    producer.fail(error);
    const received = await client.next().catch((cause: unknown) => cause);
    expect(received).toMatchObject(stoppedFor('failed'));
    expect(JSON.stringify([received, String(received)])).not.toContain('hunter2');
    await expect.poll(() => onError.mock.calls).toEqual([[error, 'a']]);
  });

  it('a run of 1 MiB is kept whole, also if it is one event', async () => {
    const [producer, runs] = [new TestProducer(), openRuns(openMemory())];
    const text = 'x'.repeat(1_048_574);
    producer.send(text);
    producer.end();
    for (const client of [await connect(runs, producer), await connect(runs, producer)]) {
      expect((await client.take(1)).texts).toEqual([text]);
      expect(await client.next()).toMatchObject({ done: true });
    }
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

  it.each([
    ['its process', true],
    ['another process', false],
  ])('a run goes on while %s reads it, and is stopped when none has for a time', async (_, isOwn) => {
    const log = openMemory();
    const producer = new TestProducer();
    const runs = openRuns(log, { abandonedMs: 1000 });
    const starter = await connect(runs, producer);
    producer.send('a');
    await starter.take(1);
    const other = await connect(isOwn ? runs : openRuns(log, { abandonedMs: 1000 }), producer);
    await other.take(1);
    starter.disconnect();
    await starter.next();
    const pending = other.next();
    await sleep(2500);
    expect(producer.signal?.aborted).toBe(false);
    other.disconnect();
    await pending;
    await expect.poll(() => producer.signal?.aborted, { timeout: 5000 }).toBe(true);
    const late = await connect(runs, producer);
    await late.take(1);
    await expect(late.next()).rejects.toMatchObject(stoppedFor('abandoned'));
  });

  it('a run that is read goes on after its process was suspended for longer than nobody may have read it', async () => {
    const producer = new TestProducer();
    const client = await connect(openRuns(openMemory(), { abandonedMs: 1000 }), producer);
    producer.send('a');
    await client.take(1);
    // Until just before the run is looked after: its readers say that they read it a little later.
    await sleep(900);
    // As SIGSTOP does.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    await sleep(600);
    expect(producer.signal?.aborted).toBe(false);
  });

  it('close stops the runs of the process with the reason shutdown, also one that begins meanwhile, and begins no other', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    const runs = openRuns(log);
    await connect(runs, producer);
    const other = await connect(openRuns(log), producer);
    const connecting = connect(runs, new TestProducer(), undefined, 'b');
    const stopped = other.next().catch((error: unknown) => error);
    await runs.close();
    expect(await stopped).toMatchObject(stoppedFor('shutdown'));
    await expect((await connecting).next()).rejects.toMatchObject(stoppedFor('shutdown'));
    const late = new TestProducer();
    const rejected = { code: 'SERVICE_UNAVAILABLE' };
    await expect(connect(runs, late, undefined, 'c')).rejects.toMatchObject(rejected);
    expect(late.calls).toBe(0);
  });

  it('a client that reads nothing for a time does not take the run for lost', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    await connect(openRuns(log), producer);
    const slow = await connect(openRuns(log), producer);
    producer.send('a');
    await slow.take(1);
    await sleep(2000);
    producer.send('b');
    producer.end();
    expect((await slow.take(1)).texts).toEqual(['b']);
    expect(await slow.next()).toMatchObject({ done: true });
  });

  it('a run goes on whose clients can write to the log for a time, and cannot read it', async () => {
    const log = openMemory();
    const { cut, log: distant } = cutLog(log);
    const producer = new TestProducer();
    const starter = await connect(openRuns(log), producer);
    const away = await connect(openRuns({ ...log, read: (...args) => distant.read(...args) }), producer);
    producer.send('a');
    await away.take(1);
    const pending = away.take(1);
    const restore = cut();
    await sleep(3000);
    producer.send('b');
    restore();
    expect((await pending).texts).toEqual(['b']);
    expect((await starter.take(2)).texts).toEqual(['a', 'b']);
  });

  it('join fails with 503 while the log does not respond, and begins no run when it is back', async () => {
    const { cut, log } = cutLog(openMemory());
    const producer = new TestProducer();
    const runs = openRuns(log);
    const restore = cut();
    await expect(connect(runs, producer)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    restore();
    const next = new TestProducer();
    next.send('a');
    expect((await (await connect(runs, next)).take(1)).texts).toEqual(['a']);
    expect(producer.calls).toBe(0);
  });

  it('a run is not abandoned by a pause of its process, in which no reader could say that it reads', async () => {
    const { log, with: recordsWith } = recordingLog();
    const producer = new TestProducer();
    (await connect(openRuns(log, { abandonedMs: 30_000 }), producer)).disconnect();
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    onTestFinished(() => clock.mockRestore());
    await expect.poll(() => recordsWith('"alive"').length).toBeGreaterThan(1);
    expect(producer.signal?.aborted).toBe(false);
  });

  it('a producer whose log has failed for a time learns that its run was taken for lost', async () => {
    const log = openMemory();
    let isFailing = false;
    const failing: EventLog = {
      ...log,
      append: (...args) => (isFailing ? Promise.reject(new Error('NOPERM')) : log.append(...args)),
      async *read(...args) {
        for await (const item of log.read(...args)) {
          if (isFailing) throw new Error('NOPERM');
          yield item;
        }
      },
    };
    const producer = new TestProducer();
    await connect(openRuns(failing, { abandonedMs: 3_600_000 }), producer);
    const client = await connect(openRuns(log), producer);
    const end = client.next();
    isFailing = true;
    await expect(end).rejects.toMatchObject(stoppedFor('lost'));
    isFailing = false;
    await expect.poll(() => producer.signal?.aborted).toBe(true);
  });

  it('when the log is emptied, the run ends, and a new run of its key has none of its events', async () => {
    const { empty, log } = emptiableLog();
    const [before, after] = [new TestProducer(), new TestProducer()];
    const runs = openRuns(log);
    await connect(runs, before);
    before.send('old 1');
    await expect.poll(() => before.calls).toBe(1);
    empty();
    const client = await connect(openRuns(log), after);
    before.send('old 2', 'old 3');
    after.send('new 1');
    expect((await client.take(1)).texts).toEqual(['new 1']);
    await expect.poll(() => before.signal?.aborted).toBe(true);
    after.send('new 2');
    after.end();
    expect((await client.take(1)).texts).toEqual(['new 2']);
    expect(await client.next()).toMatchObject({ done: true });
  });

  it('a client whose log is emptied before it reads the run gets a RESYNC', async () => {
    const { empty, log } = emptiableLog();
    const client = await connect(openRuns(log), new TestProducer());
    empty();
    // By another process that read it.
    const record = { epoch: 'old', type: 'stop', reason: 'lost' };
    await log.append('answers/a', JSON.stringify(record), { events: 10, ms: 60_000 });
    await expect(client.take(1)).rejects.toMatchObject({ declaredCode: 'RESYNC' });
  });

  it('a producer that sends nothing stops when the log is emptied', async () => {
    const { empty, log } = emptiableLog();
    const producer = new TestProducer();
    await connect(openRuns(log, { abandonedMs: 3_600_000 }), producer);
    await expect.poll(() => producer.calls).toBe(1);
    empty();
    await expect.poll(() => producer.signal?.aborted).toBe(true);
  });

  it('a producer stops at its next event when Redis has evicted the events of its run alone', async () => {
    const { empty, log } = emptiableLog('answers/');
    const producer = new TestProducer();
    await connect(openRuns(log, { abandonedMs: 3_600_000 }), producer);
    await expect.poll(() => producer.calls).toBe(1);
    empty();
    producer.send('Once');
    await expect.poll(() => producer.signal?.aborted).toBe(true);
  });

  it('an event that the schema of a later version rejects is a RESYNC', async () => {
    const log = openMemory();
    const producer = new TestProducer();
    await connect(openRuns(log), producer);
    producer.send('a');
    const later = resumable({ log, name: 'answers', event: z.number(), onError: () => {} });
    const signal = AbortSignal.timeout(5000);
    const events = await later.join('a', { caller: 'ada', signal, produce: async function* () {} });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ declaredCode: 'RESYNC' });
  });

  it.each([
    // It is unknown whether it is stored, and it is.
    { record: 'start', isStored: true, where: 'its process' },
    { record: 'start', isStored: true, where: 'another process' },
    { record: 'end', isStored: false, where: 'its process' },
    { record: 'end', isStored: false, where: 'another process' },
  ])(
    'a run whose $record cannot be stored is lost for a client of $where',
    async ({ isStored, record, where }) => {
      const { log, with: recordsWith } = recordingLog();
      const append: EventLog['append'] = async (channel, text, keep) => {
        const fails = channel === 'answers/a' && text.includes(`"type":"${record}"`);
        const id = fails && !isStored ? '' : await log.append(channel, text, keep);
        if (fails) throw new Error('There was no response.');
        return id;
      };
      const producer = new TestProducer();
      const runs = openRuns({ ...log, append }, { abandonedMs: 3_600_000 });
      // It goes on: the process is alive.
      await connect(runs, new TestProducer(), undefined, 'b');
      await connect(runs, producer).catch(() => {});
      await expect.poll(() => recordsWith('"alive"').length, { timeout: 5000 }).toBeGreaterThan(2);
      const client = await connect(where === 'its process' ? runs : openRuns(log), producer);
      producer.end();
      await expect(client.next()).rejects.toMatchObject(stoppedFor('lost'));
      expect(producer.calls).toBe(record === 'start' ? 0 : 1);
    },
  );

  it.each([NaN, 0])('the limit %s is an error', (maxRuns) => {
    const message = `maxRuns of the runs answers is ${maxRuns}. Set an integer of 1 or more.`;
    expect(() => openRuns(openMemory(), { maxRuns })).toThrow(message);
  });

  it.each([undefined, ''])('a join whose caller is %j says whom to pass', async (caller) => {
    const options = { caller: caller as string, signal: undefined, produce: new TestProducer().produce }; // As in JavaScript.
    await expect(openRuns(openMemory()).join('a', options)).rejects.toThrow(
      /^`caller` of a join of the runs answers is (undefined|"")\. Pass who begins the run, .* 'everyone', .* \(10\)\.$/,
    );
  });

  it('a run goes on that begins after its process had none for a time, while a client still reads an earlier one', async () => {
    const log = openMemory();
    const [first, second] = [new TestProducer(), new TestProducer()];
    const [runs, others] = [openRuns(log), openRuns(log)];
    await connect(runs, first);
    const slow = await connect(others, first);
    first.send('a');
    first.end();
    await slow.take(1);
    await sleep(2500);
    await connect(runs, second, undefined, 'b');
    const client = await connect(others, second, undefined, 'b');
    const pending = client.take(1);
    await sleep(1000);
    second.send('b');
    expect((await pending).texts).toEqual(['b']);
  });

  describe('with many runs', () => {
    const begin = (runs: Resumable<string>, key: string, { produce }: TestProducer, caller = key) =>
      runs.join(key, { caller, signal: undefined, produce });
    const keys = Array.from({ length: 50 }, (_, at) => String(at));

    it.each([
      { limit: { maxRuns: 3 }, code: 'SERVICE_UNAVAILABLE', whose: 'a process', caller: undefined },
      { limit: { maxRunsPerCaller: 3 }, code: 'TOO_MANY_REQUESTS', whose: 'a caller', caller: 'ada' },
    ])(
      'as many of $whose run as may, and the others are $code with Retry-After, which leave nothing',
      async ({ caller, code, limit }) => {
        const log = openMemory();
        const runs = openRuns(log, limit);
        const other = openRuns(log, limit);
        const producers = keys.map(() => new TestProducer());
        const joined = await Promise.allSettled(
          keys.map((key, at) => begin(runs, key, producers[at] ?? new TestProducer(), caller)),
        );
        const begun = keys.filter((_, at) => joined[at]?.status === 'fulfilled');
        expect(begun).toHaveLength(3);
        expect(producers.filter(({ calls }) => calls > 0)).toHaveLength(3);
        const errors = joined.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(errors).toEqual(
          errors.map(() => expect.objectContaining({ code, retryAfterSeconds: expect.any(Number) })),
        );
        const rejected = keys.find((key) => !begun.includes(key)) ?? '';
        for await (const item of log.read(`answers/${rejected}`, beginning, new AbortController().signal)) {
          expect(item.type).toBe('joined');
          break;
        }
        // Who joins a run begins none.
        const [first = '', second = ''] = begun;
        await begin(runs, first, new TestProducer(), caller);
        // The limit is of this process, or of this caller, also of those that join together.
        const elsewhere = new TestProducer();
        const together = begin(runs, rejected, elsewhere, caller);
        const allowed = begin(caller === undefined ? other : runs, rejected, elsewhere, caller && 'bob');
        await expect(together).rejects.toMatchObject({ code });
        await allowed;
        await begin(runs, rejected, elsewhere, caller);
        expect(elsewhere.calls).toBe(1);
        const late = () => begin(runs, 'late', new TestProducer(), caller);
        await expect(late()).rejects.toMatchObject({ code });
        producers[keys.indexOf(second)]?.end();
        await vi.waitFor(late);
      },
    );
  });

  it('a process shows with one record that it produces all its runs', async () => {
    const { log, with: recordsWith } = recordingLog();
    const runs = openRuns(log);
    const { produce } = new TestProducer();
    for (let key = 0; key < 20; key += 1)
      await runs.join(String(key), { caller: String(key), signal: undefined, produce });
    const showing = () => recordsWith('"alive"').map((record) => record.split('{')[0]);
    await expect.poll(() => showing().length, { timeout: 5000 }).toBeGreaterThan(1);
    expect(new Set(showing()).size).toBe(1);
  });
});
