/**
 * A bounded map of two generations, which drops the older one when the newer reaches half of the size. Unlike an LRU
 * list it keeps no order, and a flood of new keys costs no more than any other use.
 */
export class RecentMap<Value> {
  readonly #half: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param maxSize the maximum number of keys */
  constructor(maxSize: number) {
    this.#half = Math.ceil(maxSize / 2);
  }

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
