/** Random numbers of a seed (mulberry32): the same on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `below`, exclusive. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** Returns an integer from `least` to `most`, inclusive. */
  from(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** Returns whether an event of this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
