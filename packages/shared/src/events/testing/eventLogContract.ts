import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginning, type EventLog, type LogItem, type Retention } from '../eventLog.ts';

export const keepAll: Retention = { events: 100_000, ms: 3_600_000 };

export const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

/** Opens a new log; `reopen` opens the same log as another process would. */
export type OpenEventLog = () => Promise<{
  readonly log: EventLog;
  readonly reopen: () => Promise<EventLog>;
}>;

/** A reader that a test reads step by step. It ends with the test. */
export class TestReader {
  readonly #controller = new AbortController();
  readonly #iterator: AsyncIterator<LogItem>;

  constructor(log: EventLog, channel: string, after?: string) {
    this.#iterator = log.read(channel, after, this.#controller.signal)[Symbol.asyncIterator]();
    onTestFinished(() => this.abort());
  }

  abort(): void {
    this.#controller.abort();
  }

  next(): Promise<IteratorResult<LogItem>> {
    return this.#iterator.next();
  }

  /** Reads an item. Fails if the reader has ended. */
  async item(): Promise<LogItem> {
    const { done, value } = await this.next();
    if (done) throw new Error('The reader has ended.');
    return value;
  }

  /** Reads items, with events as their texts and others as their types in parentheses. */
  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const item = await this.item();
      texts.push(item.type === 'event' ? item.event : `(${item.type})`);
    }
    return texts;
  }
}

/** Appends events one after the other, and returns their ids. */
async function appendAll(log: EventLog, channel: string, events: readonly string[], keep = keepAll) {
  const ids: string[] = [];
  for (const event of events) ids.push(await log.append(channel, event, keep));
  return ids;
}

const sequenceOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1));

/** Returns the id at another sequence number of the same epoch. */
const idAt = (id: string, sequence: number): string => `${id.slice(0, id.lastIndexOf('-'))}-${sequence}`;

const typesOf = (items: readonly LogItem[]) => items.map(({ type }) => type);

/** Returns where a reader from the beginning has missed events without a `resync`, or has one where none is missing. */
function gapsIn(items: readonly LogItem[], ids: readonly string[]): readonly string[] {
  const sorted = ids.map(sequenceOf).toSorted((one, other) => one - other);
  const places = new Map(sorted.map((sequence, place) => [sequence, place]));
  const gaps: string[] = [];
  let next = 0;
  let isResynced = false;
  for (const { id, type } of items) {
    if (type === 'resync') isResynced = true;
    if (type !== 'event') continue;
    const place = places.get(sequenceOf(id)) ?? NaN;
    if (!(isResynced ? place > next : place === next))
      gaps.push(`${next} to ${place}, resync: ${isResynced}`);
    next = place + 1;
    isResynced = false;
  }
  return gaps;
}

const below = (limit: number): number => Math.floor(Math.random() * limit);

/** The contract suite of an `EventLog`, on which `publish` and `subscribe` rely. */
export function describeEventLog(name: string, openLog: OpenEventLog): void {
  describe(`the event log ${name}`, () => {
    it('append returns ids of one epoch whose sequence numbers grow', async () => {
      const { log, reopen } = await openLog();
      const other = await reopen();
      const ids = [...(await appendAll(log, 'a', ['x', 'y'])), ...(await appendAll(other, 'a', ['z']))];
      expect(ids[0]).toMatch(/^[0-9A-Za-z]{1,32}-[1-9][0-9]*$/);
      const [first = 0, second = 0, third = 0] = ids.map(sequenceOf);
      expect(ids).toEqual([first, second, third].map((sequence) => idAt(ids[0] ?? '', sequence)));
      expect(first < second && second < third).toBe(true);
    });

    it('appends that a process starts together are stored in the order of the calls', async () => {
      const { log } = await openLog();
      const ids = await Promise.all(numbers(1, 300).map((event) => log.append('a', event, keepAll)));
      const sequences = ids.map(sequenceOf);
      expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
      expect(await new TestReader(log, 'a', beginning).texts(300)).toEqual(numbers(1, 300));
    });

    it('a reader without an id begins with joined and gets only later events', async () => {
      const { log, reopen } = await openLog();
      await appendAll(log, 'a', ['before']);
      const reader = new TestReader(await reopen(), 'a');
      expect(await reader.texts(1)).toEqual(['(joined)']);
      await appendAll(log, 'a', ['x', 'y']);
      expect(await reader.texts(2)).toEqual(['x', 'y']);
    });

    it('a reader with an id gets all later events of its channel, once each and in order, then live ones', async () => {
      const { log, reopen } = await openLog();
      const [, second = ''] = await appendAll(log, 'a', numbers(1, 250));
      await appendAll(log, 'b', ['other']);
      const other = await reopen();
      const reader = new TestReader(other, 'a', second);
      expect(await reader.texts(248)).toEqual(numbers(3, 250));
      const live = reader.texts(2);
      await appendAll(log, 'a', ['live']);
      await appendAll(other, 'a', ['own']);
      expect(await live).toEqual(['live', 'own']);
    });

    it('a reader whose next event is no longer kept gets one resync, whose position is that before the oldest kept event', async () => {
      const { log } = await openLog();
      const keep = { events: 4, ms: 3_600_000 };
      const [first, , , , , sixth] = await appendAll(log, 'a', numbers(1, 10), keep);
      const reader = new TestReader(log, 'a', first);
      expect(await reader.item()).toEqual({ type: 'resync', id: sixth });
      expect(await reader.texts(4)).toEqual(numbers(7, 10));
      expect(await new TestReader(log, 'a', sixth).texts(4)).toEqual(numbers(7, 10));
      await appendAll(log, 'a', ['live']);
      expect(await reader.texts(1)).toEqual(['live']);
    });

    it('the events of other channels between two of its own are no gap for a reader', async () => {
      const { log } = await openLog();
      const { id: joined } = await new TestReader(log, 'a').item();
      for (const event of numbers(1, 5)) {
        await appendAll(log, 'a', [event]);
        await appendAll(log, 'b', ['other'], { events: 1, ms: 3_600_000 });
      }
      for (const after of [joined, beginning])
        expect(await new TestReader(log, 'a', after).texts(5)).toEqual(numbers(1, 5));
    });

    it('the oldest events are removed when those of a channel have more bytes than are kept, but never the newest', async () => {
      const { log } = await openLog();
      const keep = { ...keepAll, bytes: 10 };
      const after = (id: string | undefined, count: number) => new TestReader(log, 'a', id).texts(count);
      // 10 bytes of UTF-8.
      const [first] = await appendAll(log, 'a', ['1234', '56ää'], keep);
      expect(await after(beginning, 2)).toEqual(['1234', '56ää']);
      await appendAll(log, 'a', ['7'], keep);
      expect(await after(beginning, 3)).toEqual(['(resync)', '56ää', '7']);
      expect(await after(first, 2)).toEqual(['56ää', '7']);
      const large = 'x'.repeat(1_048_576);
      await appendAll(log, 'a', [large], keep);
      expect(await after(first, 2)).toEqual(['(resync)', large]);
      await appendAll(log, 'a', ['8'], keep);
      expect(await after(first, 2)).toEqual(['(resync)', '8']);
    });

    it('events older than their time are removed when the next one is appended', async () => {
      const { log } = await openLog();
      const [first] = await appendAll(log, 'a', ['x', 'y']);
      await sleep(510);
      await appendAll(log, 'a', ['z'], { events: 1000, ms: 500 });
      await appendAll(log, 'a', ['last']);
      for (const after of [first, beginning]) {
        const reader = new TestReader(log, 'a', after);
        const texts = await reader.texts(2);
        // A slow machine may not append the last one within the time of the one before.
        expect(texts).toEqual(['(resync)', texts.includes('z') ? 'z' : 'last']);
      }
    });

    it.each([
      ['of another epoch', () => 'ffffffffffff-1'],
      ['of another epoch, with a later sequence number', () => 'ffffffffffff-1000'],
      ['later than the newest event', (id: string) => idAt(id, 3)],
      ['far later than the newest event', (id: string) => idAt(id, 999_999_999_999)],
      ['that is empty', () => ''],
      ['that no log has written', () => 'constructor-\u0000-01'],
      ['that is very long', () => '1'.repeat(10_000)],
      ['without an epoch', () => '-1'],
      ['of the epoch alone', (id: string) => id.slice(0, id.lastIndexOf('-'))],
    ])('a reader with an id %s gets one resync, then all that is kept', async (_what, idOf) => {
      const { log } = await openLog();
      const [id = ''] = await appendAll(log, 'a', ['x', 'y']);
      const reader = new TestReader(log, 'a', idOf(id));
      expect(await reader.texts(3)).toEqual(['(resync)', 'x', 'y']);
      await appendAll(log, 'a', ['live']);
      expect(await reader.texts(1)).toEqual(['live']);
    });

    it('a reader with an id of another epoch gets one resync in a channel without events, then later events', async () => {
      const { log } = await openLog();
      await appendAll(log, 'a', ['x']);
      const reader = new TestReader(log, 'b', 'ffffffffffff-1');
      const { id, type } = await reader.item();
      expect(type).toBe('resync');
      await appendAll(log, 'b', ['y']);
      expect(await reader.texts(1)).toEqual(['y']);
      expect(await new TestReader(log, 'b', id).texts(1)).toEqual(['y']);
    });

    it.each([undefined, beginning])(
      'a reader with the id %s in a channel without events begins with joined, and misses none',
      async (after) => {
        const { log, reopen } = await openLog();
        await appendAll(log, 'a', ['other']);
        const other = await reopen();
        const reader = new TestReader(other, 'new', after);
        const { id, type } = await reader.item();
        expect(type).toBe('joined');
        await appendAll(log, 'new', ['x', 'y']);
        expect(await reader.texts(2)).toEqual(['x', 'y']);
        for (const from of [id, beginning])
          expect(await new TestReader(other, 'new', from).texts(2)).toEqual(['x', 'y']);
      },
    );

    it('aborting the signal ends a reader that waits, one that has more to read, and one that has not begun', async () => {
      const { log } = await openLog();
      await appendAll(log, 'a', ['x', 'y', 'z']);
      const [waiting, reading, beginner] = [undefined, beginning, beginning].map(
        (after) => new TestReader(log, 'a', after),
      );
      await waiting?.item();
      await reading?.item();
      const pending = waiting?.next();
      for (const reader of [waiting, reading, beginner]) reader?.abort();
      expect(await pending).toMatchObject({ done: true });
      for (const reader of [waiting, reading, beginner])
        expect(await reader?.next()).toMatchObject({ done: true });
    });

    it('channels and events may be any strings, also long ones', async () => {
      const { log } = await openLog();
      const long = 'ä'.repeat(20_000);
      for (const channel of ['', '\u0000', long, `${long}2`, '$a.b', '{x}', 'a:b', 'a*']) {
        const event = JSON.stringify({ channel, units: '\u0000\u00ff\n\u{1f43e}' });
        await log.append(channel, event, keepAll);
        await log.append(channel, '', keepAll);
        expect(await new TestReader(log, channel, beginning).texts(2)).toEqual([event, '']);
      }
    });

    it.each([
      ['get each of 10,000 events of 4 writers once and in order', keepAll],
      ['miss no event of 4 writers without a resync if few are kept', { events: 200, ms: 3_600_000 }],
    ])(
      '20 readers that disconnect at random %s',
      async (_what, keep) => {
        const { log, reopen } = await openLog();
        const logs = [log, await reopen(), await reopen(), await reopen()];
        const total = 10_000;
        const joined = Promise.withResolvers<void>();
        let joinedCount = 0;
        const travel = async (at: number): Promise<readonly LogItem[]> => {
          const items: LogItem[] = [];
          let hasEnded = false;
          while (!hasEnded) {
            const controller = new AbortController();
            let left = 1 + below(at % 4 === 0 ? 10_000 : 300);
            const source = logs[below(4)]?.read('a', items.at(-1)?.id, controller.signal) ?? [];
            for await (const item of source) {
              items.push(item);
              if (item.type === 'joined' && (joinedCount += 1) === 20) joined.resolve();
              hasEnded = item.type === 'event' && item.event === 'end';
              left -= 1;
              if (left === 0 || hasEnded) controller.abort();
            }
            await sleep(below(6));
          }
          return items;
        };
        const journeys = Array.from({ length: 20 }, (_, at) => travel(at));
        await Promise.race([joined.promise, Promise.all(journeys)]);
        const ids = await Promise.all(
          logs.map(async (each, writer) => {
            const written: string[] = [];
            for (let from = 0; from < total / 4; from += 25) {
              const group = numbers(from, from + 24).map((event) =>
                each.append('a', `${writer}:${event}`, keep),
              );
              // Readers take turns with the writers.
              await each.append('b', 'other', keep);
              written.push(...(await Promise.all(group)));
            }
            return written;
          }),
        );
        ids.push(await appendAll(log, 'a', ['end'], keep));
        expect(ids.map((written) => written.map(sequenceOf).toSorted((one, other) => one - other))).toEqual(
          ids.map((written) => written.map(sequenceOf)),
        );
        expect(new Set(ids.flat()).size).toBe(total + 1);
        for (const items of await Promise.all(journeys)) {
          expect(gapsIn(items, ids.flat())).toEqual([]);
          expect(typesOf(items).slice(1)).not.toContain('joined');
          const events = items.filter(({ type }) => type === 'event');
          expect(keep === keepAll ? events.length : total + 1).toBe(total + 1);
        }
      },
      120_000,
    );

    it('close ends readers that wait, and append and read reject afterwards', async () => {
      const { reopen } = await openLog();
      const log = await reopen();
      const reader = new TestReader(log, 'a');
      await reader.item();
      const pending = reader.next();
      await log.close();
      expect(await pending).toMatchObject({ done: true });
      await expect(log.append('a', 'x', keepAll)).rejects.toThrow('closed');
      await expect(new TestReader(log, 'a').next()).rejects.toThrow('closed');
    });
  });
}
