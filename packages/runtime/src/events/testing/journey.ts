import type { LogItem } from '../eventLog.ts';

/**
 * What a reader has received over all its connections. It checks that each event arrives once and in order, and that there is a
 * `resync` exactly where events are missing.
 */
export class Journey {
  /** The id with which the reader continues. */
  id: string | undefined = undefined;
  eventCount = 0;
  resyncCount = 0;
  #sequence = 0;
  #epoch = '';
  /** Whether the last item was a `resync`; then where it took the reader from. */
  #resyncFrom: { readonly epoch: string; readonly sequence: number } | undefined = undefined;

  get sequence(): number {
    return this.#sequence;
  }

  /** @throws if the item may not follow those before it */
  add(item: LogItem): void {
    const [epoch = '', digits] = item.id.split('-');
    const sequence = Number(digits);
    const before = this.id === undefined ? 'nothing' : this.id;
    const fail = (why: string) => new Error(`${item.type} ${item.id} after ${before}: ${why}`);
    if (item.type === 'joined') {
      if (this.id !== undefined) throw fail('the reader had a past');
    } else if (this.id === undefined) throw fail('the reader had not joined');
    else if (item.type === 'resync') {
      // More may be missing if the reader was away after the last one.
      if (this.#resyncFrom && epoch === this.#epoch && sequence <= this.#sequence)
        throw fail('a resync had said so');
      this.#resyncFrom ??= { epoch: this.#epoch, sequence: this.#sequence };
      this.resyncCount += 1;
    } else {
      if (epoch !== this.#epoch) throw fail('another epoch without a resync');
      if (sequence !== this.#sequence + 1) throw fail('a silent gap, or an event that was there before');
      const from = this.#resyncFrom;
      if (from?.epoch === epoch && sequence <= from.sequence + 1)
        throw fail('a resync, and nothing is missing');
      this.#resyncFrom = undefined;
      this.eventCount += 1;
    }
    this.id = item.id;
    this.#epoch = epoch;
    this.#sequence = sequence;
  }
}
