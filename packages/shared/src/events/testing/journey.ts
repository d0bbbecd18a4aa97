import type { LogItem } from '../eventLog.ts';

interface Position {
  readonly epoch: string;
  readonly sequence: number;
}

/** From an item with a position to the next event. */
interface Step {
  readonly from: Position;
  readonly to: Position;
  /** Whether there was a `resync` in between. */
  readonly isResync: boolean;
}

/**
 * What a reader has received over all its connections. `add` checks the order of the items, and `verify` that there is a `resync`
 * exactly where events are missing.
 */
export class Journey {
  /** The id with which the reader continues. */
  id: string | undefined = undefined;
  eventCount = 0;
  resyncCount = 0;
  #at: Position = { epoch: '', sequence: 0 };
  /** Where the `resync` that was the last item took the reader from. */
  #resyncFrom: Position | undefined = undefined;
  readonly #steps: Step[] = [];

  /** The ids of the events. */
  get ids(): Iterable<string> {
    return this.#steps.map(({ to: { epoch, sequence } }) => `${epoch}-${sequence}`);
  }

  /** @throws if the item may not follow those before it */
  add(item: LogItem): void {
    const to = positionOf(item.id);
    const { epoch, sequence } = this.#at;
    const before = this.id === undefined ? 'nothing' : this.id;
    const fail = (why: string) => new Error(`${item.type} ${item.id} after ${before}: ${why}`);
    if (item.type === 'joined') {
      if (this.id !== undefined) throw fail('the reader had a past');
    } else if (this.id === undefined) throw fail('the reader had not joined');
    else if (item.type === 'resync') {
      // More may be missing if the reader was away after the last one.
      if (this.#resyncFrom && to.epoch === epoch && to.sequence <= sequence)
        throw fail('a resync had said so');
      this.#resyncFrom ??= this.#at;
      this.resyncCount += 1;
    } else {
      if (to.epoch !== epoch && this.eventCount > 0 && !this.#resyncFrom)
        throw fail('another epoch without a resync');
      if (to.epoch === epoch && to.sequence <= sequence) throw fail('an event that was there before');
      this.#steps.push({ from: this.#resyncFrom ?? this.#at, to, isResync: this.#resyncFrom !== undefined });
      this.#resyncFrom = undefined;
      this.eventCount += 1;
    }
    this.id = item.id;
    this.#at = to;
  }

  /**
   * @param ids the ids of the events that were stored in the channel
   * @throws if there is a silent gap, or a `resync` where nothing is missing
   */
  verify(ids: Iterable<string>): void {
    const byEpoch = Map.groupBy(Array.from(ids, positionOf), ({ epoch }) => epoch);
    const stored = new Map(
      Array.from(byEpoch, ([epoch, positions]) => [
        epoch,
        positions.map(({ sequence }) => sequence).toSorted((one, other) => one - other),
      ]),
    );
    for (const { from, isResync, to } of this.#steps) {
      const isOther = from.epoch !== to.epoch;
      if (isOther && isResync) continue;
      const sequences = stored.get(to.epoch) ?? [];
      // A channel without events may have another epoch.
      const known = isOther ? 0 : countUpTo(sequences, from.sequence);
      const missing = countUpTo(sequences, to.sequence - 1) - known;
      if (missing > 0 === isResync) continue;
      const found = isResync ? 'a resync, and nothing is missing' : `a silent gap of ${missing} events`;
      throw new Error(`From ${from.sequence} to ${to.sequence} in ${to.epoch}: ${found}`);
    }
  }
}

function positionOf(id: string): Position {
  const [epoch = '', digits] = id.split('-');
  return { epoch, sequence: Number(digits) };
}

/** Returns how many of the sorted numbers are less than or equal to a limit. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if ((sorted[middle] ?? 0) <= limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
