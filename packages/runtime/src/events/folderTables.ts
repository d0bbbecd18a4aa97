import { hash as digest } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { type ChannelPage, formatId, newEpoch } from './channelReader.ts';
import { channelMemoryMs, type Retention } from './eventLog.ts';

type Table = Database<Buffer, Uint8Array>;

/** The tables of an event log in LMDB. A channel is named by the hash of its name, since LMDB limits the length of keys. */
export interface EventTables {
  readonly root: RootDatabase<Buffer, Uint8Array>;
  /** `Channel` by hash. */
  readonly channels: Table;
  /** Time and text by hash and sequence number. */
  readonly events: Table;
  /** The hash of the channel of each of the last appends, by a number that grows: which channels have changed. */
  readonly changes: Table;
}

interface Channel {
  readonly epoch: string;
  /** Sequence number of the oldest kept event; `last + 1` if there is none. */
  readonly first: number;
  readonly last: number;
  /** When the last of its events is no longer kept, by `Date.now()`. */
  readonly keptUntil: number;
  /** When the channel is forgotten, by `Date.now()`. */
  readonly forgottenAt: number;
}

/** How much a reader takes at a time: events, and bytes after which no more is added. */
const pageEvents = 100;
const pageBytes = 65_536;

/** After how many appends channels are checked, and how many: more than one for each append, so that expired ones cannot accumulate. */
const sweepInterval = 8;
const sweepLimit = 16;

/** How many events of a channel are removed at most at a time: 2 ms, during which no process can append. */
const trimLimit = 1000;

/** How many changes are known. A process that is further behind wakes all its readers. */
const knownChanges = 10_000;

/** How much longer than promised a joined channel is remembered, so that few of its readers have to write. */
const extraMemoryMs = 3_600_000;

/** Keys of the root table: which file it is, and the number of the last change. */
const fileKey = Buffer.from('file');
const changeKey = Buffer.from('change');

/**
 * Opens the tables.
 * @param fileId identifies the file. Another than the stored one is a copy of it, such as a restored backup, whose channels begin
 * again: an id may already name another event
 */
export function openEventTables(root: EventTables['root'], fileId: string): EventTables {
  const table = (name: string): Table => root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' });
  const tables = { root, channels: table('channels'), events: table('events'), changes: table('changes') };
  root.transactionSync(() => {
    if (root.get(fileKey)?.toString() === fileId) return;
    root.removeSync(changeKey);
    for (const each of [tables.channels, tables.events, tables.changes]) each.clearSync();
    root.putSync(fileKey, Buffer.from(fileId));
  });
  return tables;
}

/** Hashes the name of a channel. */
export const hashName = (name: string): Buffer => digest('sha256', name, 'buffer');

interface NewEvent {
  readonly event: string;
  readonly keep: Retention;
  readonly now: number;
}

/**
 * Stores an event at the end of its channel, and removes those that are no longer kept. Must run in a write transaction.
 * @returns the id of the event
 */
export function storeEvent(tables: EventTables, hash: Buffer, { event, keep, now }: NewEvent): string {
  const { changes, events, root } = tables;
  const channel = readChannel(tables, hash, now) ?? newChannel();
  const last = channel.last + 1;
  const keptUntil = now + keep.ms;
  events.putSync(eventKey(hash, last), Buffer.concat([numberBytes(now), Buffer.from(event)]));
  const removeTo = last - keep.events;
  const first = removeEvents(
    tables,
    hash,
    { ...channel, last },
    (sequence) => sequence <= removeTo || timeOf(tables, hash, sequence) <= now - keep.ms,
  );
  const forgottenAt = Math.max(channel.forgottenAt, keptUntil + channelMemoryMs);
  writeChannel(tables, hash, { epoch: channel.epoch, first, last, keptUntil, forgottenAt });
  const change = lastChange(tables) + 1;
  root.putSync(changeKey, numberBytes(change));
  changes.putSync(numberBytes(change), hash);
  changes.removeSync(numberBytes(change - knownChanges));
  return formatId(channel.epoch, last);
}

/** Reads events with higher sequence numbers than `after`; `undefined` for a channel that is unknown or forgotten. */
export function readPage(tables: EventTables, hash: Buffer, after: number): ChannelPage | undefined {
  const channel = readChannel(tables, hash, Date.now());
  return channel && pageOf(tables, hash, channel, after);
}

/** Whether a reader can join a channel without `joinChannel`, since it is remembered for long enough. */
export function isRemembered(tables: EventTables, hash: Buffer): boolean {
  const now = Date.now();
  return (readChannel(tables, hash, now)?.forgottenAt ?? 0) >= now + channelMemoryMs;
}

/** Reads as `readPage`, but begins an unknown channel, and remembers a known one for longer. Must run in a write transaction. */
export function joinChannel(tables: EventTables, hash: Buffer, after: number): ChannelPage {
  const now = Date.now();
  const channel = readChannel(tables, hash, now) ?? newChannel();
  const forgottenAt = Math.max(channel.forgottenAt, now + channelMemoryMs + extraMemoryMs);
  writeChannel(tables, hash, { ...channel, forgottenAt });
  return pageOf(tables, hash, channel, after);
}

function pageOf(tables: EventTables, hash: Buffer, channel: Channel, after: number): ChannelPage {
  const { epoch, first, last } = channel;
  const events: { sequence: number; event: string }[] = [];
  let bytes = 0;
  for (let sequence = Math.max(first, after + 1); sequence <= last; sequence += 1) {
    const row = tables.events.get(eventKey(hash, sequence));
    if (row === undefined || events.length === pageEvents || bytes >= pageBytes) break;
    events.push({ sequence, event: row.toString('utf8', 8) });
    bytes += row.length;
  }
  return { epoch, last, events };
}

/**
 * Returns a function that checks the next few channels at each call: it removes events that are no longer kept, and forgotten
 * channels. It must be called in a write transaction.
 */
export function createSweep(): (tables: EventTables, now: number) => void {
  let from: Uint8Array = Buffer.alloc(0);
  let calls = 0;
  return (tables, now) => {
    calls += 1;
    if (calls % sweepInterval !== 0) return;
    const { channels } = tables;
    const hashes = Array.from(channels.getKeys({ start: from, limit: sweepLimit }), (key) =>
      Buffer.from(key),
    );
    from = (hashes.length === sweepLimit && hashes.at(-1)) || Buffer.alloc(0);
    for (const hash of hashes) {
      const channel = readChannel(tables, hash, 0);
      if (channel === undefined || channel.keptUntil > now) continue;
      const first = removeEvents(tables, hash, channel, () => true);
      if (first !== channel.first) writeChannel(tables, hash, { ...channel, first });
      else if (channel.forgottenAt <= now) channels.removeSync(hash);
    }
  };
}

/** Returns the number of the last change; 0 before the first. */
export const lastChange = ({ root }: EventTables): number => root.get(changeKey)?.readDoubleBE() ?? 0;

/** Returns the changes after one, as the hashes of their channels; `undefined` if some are no longer known. */
export function changesAfter(tables: EventTables, seen: number): Buffer[] | undefined {
  const changed: Buffer[] = [];
  const last = lastChange(tables);
  for (let change = seen + 1; change <= last; change += 1) {
    const hash = tables.changes.get(numberBytes(change));
    if (hash === undefined) return undefined;
    changed.push(Buffer.from(hash));
  }
  return changed;
}

/** Removes the oldest events of a channel, up to the first that is not to be removed. Returns its sequence number. */
function removeEvents(
  { events }: EventTables,
  hash: Buffer,
  { first, last }: Channel,
  isRemoved: (sequence: number) => boolean,
): number {
  let sequence = first;
  const end = Math.min(last + 1, first + trimLimit);
  while (sequence < end && isRemoved(sequence)) {
    events.removeSync(eventKey(hash, sequence));
    sequence += 1;
  }
  return sequence;
}

const timeOf = ({ events }: EventTables, hash: Buffer, sequence: number): number =>
  events.get(eventKey(hash, sequence))?.readDoubleBE() ?? 0;

const newChannel = (): Channel => ({ epoch: newEpoch(), first: 1, last: 0, keptUntil: 0, forgottenAt: 0 });

/** @returns `undefined` for a channel that is unknown, or is forgotten at `now` */
function readChannel({ channels }: EventTables, hash: Buffer, now: number): Channel | undefined {
  const row = channels.get(hash);
  const forgottenAt = row?.readDoubleBE(0) ?? 0;
  if (row === undefined || forgottenAt <= now) return undefined;
  const [keptUntil, first, last] = [row.readDoubleBE(8), row.readDoubleBE(16), row.readDoubleBE(24)];
  return { epoch: row.toString('latin1', 32), first, last, keptUntil, forgottenAt };
}

function writeChannel({ channels }: EventTables, hash: Buffer, channel: Channel): void {
  const { epoch, first, forgottenAt, keptUntil, last } = channel;
  const row = Buffer.alloc(32 + epoch.length);
  for (const [at, value] of [forgottenAt, keptUntil, first, last].entries()) row.writeDoubleBE(value, 8 * at);
  row.write(epoch, 32, 'latin1');
  channels.putSync(hash, row);
}

const eventKey = (hash: Buffer, sequence: number): Buffer => Buffer.concat([hash, numberBytes(sequence)]);

/** Encodes a number of 0 or more so that keys are ordered by it. */
function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
