/**
 * A map of bounded size that forgets what was not asked for of late: two generations, of which the older is dropped once
 * the newer is half of the size. Unlike a least-recently-used list it costs nothing to keep in order, and a flood of new
 * keys costs no more than any other use.
 */
export class RecentMap<Value> {
  readonly #half: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param most how many keys are kept at most */
  constructor(most: number) {
    this.#half = Math.ceil(most / 2);
  }

  /** How many keys are kept. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
