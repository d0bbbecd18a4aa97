import { hash as digest } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { type ChannelPage, formatId, type StoredEvent } from './channelReader.ts';
import { channelMemoryMs, type Retention } from './eventLog.ts';

type Table = Database<Buffer, Uint8Array>;

/** LMDB tables of a log. Channels are hashed: LMDB limits keys. The root table has the epoch and `LogRow`. */
export interface EventTables {
  readonly epoch: string;
  /** Whether the file had no epoch. One that has had no event may be an older copy, which has one. */
  readonly isNew: boolean;
  readonly root: RootDatabase<Buffer, Uint8Array>;
  /** `ChannelRow` by hash. */
  readonly channels: Table;
  /** Sequence number of the event before it, time, bytes of all before it, and text, by hash and sequence number. */
  readonly events: Table;
  /** The hash of the channel, by sequence number: which channels have changed. */
  readonly changes: Table;
  /** The newest position before a process opened the log, by the one after it: a row for each process. */
  readonly openings: Table;
}

interface LogRow {
  /** Sequence number of the newest event. */
  readonly newest: number;
  /** The highest sequence number of the channels that were forgotten. */
  readonly forgotten: number;
}

interface ChannelRow {
  /** The position before its first event. */
  readonly start: number;
  /** Sequence number of its newest event. */
  readonly last: number;
  /** How many events are kept. */
  readonly count: number;
  /** Bytes of all its events, kept or not. */
  readonly bytes: number;
  /** When the last of its events is no longer kept, by `Date.now()`. */
  readonly keptUntil: number;
}

/** How much a reader takes at a time: events, and bytes after which no more is added. */
const pageEvents = 100;
const pageBytes = 65_536;

/** How many channels each append checks: more than one, so that expired ones cannot accumulate. */
const sweepLimit = 3;

/** How many events of a channel are removed at most at a time: 2 ms, during which no process can append. */
const trimLimit = 1000;

/** How many changes are read at most. A process that is further behind wakes all its readers. */
const changesLimit = 1000;

/** Where the text of a stored event begins. */
const textOffset = 24;

const epochKey = Buffer.from('epoch');
const logKey = Buffer.from('log');

/**
 * Opens the tables. They begin again if `epoch`, which identifies the file, is not the stored one: in a copy, such as a
 * restored backup, an id may already name another event. In a write transaction.
 */
export function openEventTables(root: EventTables['root'], epoch: string): EventTables {
  const table = (name: string): Table => root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' });
  const tables = {
    epoch,
    isNew: root.get(epochKey) === undefined,
    root,
    channels: table('channels'),
    events: table('events'),
    changes: table('changes'),
    openings: table('openings'),
  };
  if (root.get(epochKey)?.toString() === epoch) return tables;
  for (const each of [tables.channels, tables.events, tables.changes, tables.openings]) each.clearSync();
  root.removeSync(logKey);
  root.putSync(epochKey, Buffer.from(epoch));
  return tables;
}

/** More than the events that a log can store in a millisecond. */
const positionsPerMs = 256;

/** Moves positions to the time, so all are new: the file may be an older copy. In a write transaction. */
export function beginOpening(tables: EventTables, now: number): void {
  if (tables.isNew) return;
  const { newest, forgotten } = readLog(tables);
  const first = now * positionsPerMs;
  // Another process has just opened it, and what its row says must stay; or the clock was set back.
  if (first <= newest) return;
  tables.openings.putSync(encode(first), encode(newest));
  writeLog(tables, { newest: first, forgotten });
}

/** Whether a position is of events that the file had before an older copy was written over it. */
function isLost({ openings }: EventTables, position: number): boolean {
  for (const { value } of openings.getRange({ start: encode(position + 1), limit: 1 }))
    return value.readDoubleBE() < position;
  return false;
}

export const hashName = (name: string): Buffer => digest('sha256', name, 'buffer');

interface NewEvent {
  readonly event: string;
  readonly keep: Retention;
  readonly now: number;
}

/** Stores an event and removes those no longer kept, in a write transaction. @returns the id of the event */
export function storeEvent(tables: EventTables, hash: Buffer, { event, keep, now }: NewEvent): string {
  const { newest, forgotten } = readLog(tables);
  const { bytes: bytesBefore, count, last, start } = readChannel(tables, hash, forgotten);
  const sequence = newest + 1;
  const text = Buffer.from(event);
  tables.events.putSync(eventKey(hash, sequence), Buffer.concat([encode(last, now, bytesBefore), text]));
  tables.changes.putSync(encode(sequence), hash);
  const bytes = bytesBefore + text.length;
  const excess = count + 1 - keep.events;
  const firstBytes = bytes - (keep.bytes ?? Infinity);
  const removed = removeEvents(
    tables,
    hash,
    (index, each) =>
      index < count && (index < excess || each.at <= now - keep.ms || each.bytesBefore < firstBytes),
  );
  const kept = count + 1 - removed;
  writeChannel(tables, hash, { start, last: sequence, count: kept, bytes, keptUntil: now + keep.ms });
  writeLog(tables, { newest: sequence, forgotten });
  return formatId(tables.epoch, sequence);
}

/** Reads events with higher sequence numbers than `after`. */
export function readPage(tables: EventTables, hash: Buffer, after: number): ChannelPage {
  const { newest, forgotten } = readLog(tables);
  const { last, start } = readChannel(tables, hash, forgotten);
  const events: StoredEvent[] = [];
  let bytes = 0;
  const range = { start: eventKey(hash, after + 1), end: eventKey(hash, Infinity), limit: pageEvents };
  for (const { key, value } of after < last ? tables.events.getRange(range) : []) {
    if (bytes >= pageBytes) break;
    bytes += value.length;
    const [sequence, previous] = [sequenceOf(key), value.readDoubleBE()];
    events.push({ sequence, previous, event: value.toString('utf8', textOffset) });
  }
  return { epoch: tables.epoch, start, last, newest: isLost(tables, after) ? -1 : newest, events };
}

/** Returns a sweep of a few channels, in a write transaction: it removes old events and forgets channels. */
export function createSweep(): (tables: EventTables, now: number) => void {
  let from: Buffer = Buffer.alloc(0);
  return (tables, now) => {
    const range = tables.channels.getRange({ start: from, exclusiveStart: true, limit: sweepLimit });
    const found = Array.from(range, ({ key, value }) => ({
      hash: Buffer.from(key),
      ...decodeChannel(value),
    }));
    from = found.at(sweepLimit - 1)?.hash ?? Buffer.alloc(0);
    for (const { hash, ...channel } of found) {
      if (channel.keptUntil > now) continue;
      if (channel.count > 0) {
        const count = channel.count - removeEvents(tables, hash, () => true);
        writeChannel(tables, hash, { ...channel, count });
      } else if (channel.keptUntil + channelMemoryMs <= now) {
        const { forgotten, newest } = readLog(tables);
        tables.channels.removeSync(hash);
        writeLog(tables, { newest, forgotten: Math.max(forgotten, channel.last) });
      }
    }
  };
}

/** Returns the sequence number of the newest event; 0 before the first. */
export const newestOf = (tables: EventTables): number => readLog(tables).newest;

/** Returns the hashes of channels with events after a sequence number, in their order; `undefined` if there are many events. */
export function changedAfter(tables: EventTables, seen: number): string[] | undefined {
  const range = tables.changes.getRange({ start: encode(seen + 1), limit: changesLimit });
  const hashes = Array.from(range, ({ value }) => value.toString('latin1'));
  return hashes.length < changesLimit ? hashes : undefined;
}

/** Removes the oldest events of a channel, up to the first that is not to be removed. Returns how many. */
function removeEvents(
  { changes, events }: EventTables,
  hash: Buffer,
  isRemoved: (index: number, event: { readonly at: number; readonly bytesBefore: number }) => boolean,
): number {
  const removed: number[] = [];
  const range = { start: eventKey(hash, 0), end: eventKey(hash, Infinity), limit: trimLimit };
  for (const { key, value } of events.getRange(range)) {
    const event = { at: value.readDoubleBE(8), bytesBefore: value.readDoubleBE(16) };
    if (!isRemoved(removed.length, event)) break;
    removed.push(sequenceOf(key));
  }
  for (const sequence of removed) {
    events.removeSync(eventKey(hash, sequence));
    changes.removeSync(encode(sequence));
  }
  return removed.length;
}

function readLog({ root }: EventTables): LogRow {
  const row = root.get(logKey);
  return { newest: row?.readDoubleBE() ?? 0, forgotten: row?.readDoubleBE(8) ?? 0 };
}

const writeLog = ({ root }: EventTables, { forgotten, newest }: LogRow): void =>
  root.putSync(logKey, encode(newest, forgotten));

/** Reads a channel; an unknown one is as if it had been forgotten last. */
function readChannel({ channels }: EventTables, hash: Buffer, forgotten: number): ChannelRow {
  const row = channels.get(hash);
  return row ? decodeChannel(row) : { start: forgotten, last: forgotten, count: 0, bytes: 0, keptUntil: 0 };
}

function writeChannel({ channels }: EventTables, hash: Buffer, channel: ChannelRow): void {
  const { bytes, count, keptUntil, last, start } = channel;
  channels.putSync(hash, encode(start, last, count, bytes, keptUntil));
}

const decodeChannel = (row: Buffer): ChannelRow => ({
  start: row.readDoubleBE(),
  last: row.readDoubleBE(8),
  count: row.readDoubleBE(16),
  bytes: row.readDoubleBE(24),
  keptUntil: row.readDoubleBE(32),
});

const eventKey = (hash: Buffer, sequence: number): Buffer => Buffer.concat([hash, encode(sequence)]);

const sequenceOf = (key: Uint8Array): number => Buffer.from(key).readDoubleBE(32);

/** Encodes numbers of 0 or more so that keys are ordered by them. */
function encode(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeDoubleBE(value, 8 * index);
  return bytes;
}
