/** Rows of a table, ordered by key. A key is its bytes as Latin-1 text: JavaScript orders such texts as LMDB orders bytes. */
export class Rows {
  readonly keys: string[];
  readonly values: Buffer[];

  constructor(keys: string[] = [], values: Buffer[] = []) {
    this.keys = keys;
    this.values = values;
  }

  /** Returns the index of the first row whose key is not before this one. */
  indexOf(key: string): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get(key: string): Buffer | undefined {
    const index = this.indexOf(key);
    return this.keys[index] === key ? this.values[index] : undefined;
  }

  put(key: string, value: Buffer): void {
    const index = this.indexOf(key);
    const replaced = this.keys[index] === key ? 1 : 0;
    this.keys.splice(index, replaced, key);
    this.values.splice(index, replaced, value);
  }

  /** @returns whether there was such a row */
  remove(key: string): boolean {
    const index = this.indexOf(key);
    if (this.keys[index] !== key) return false;
    this.keys.splice(index, 1);
    this.values.splice(index, 1);
    return true;
  }
}

/** What an LMDB file contains after a commit: its tables by name. Never changed, so that a snapshot is a reference. */
export type Content = ReadonlyMap<string, Rows>;

/** The content that a write transaction sees. It copies a table before it changes it. */
export class Draft {
  readonly content: Map<string, Rows>;
  readonly #changed = new Set<string>();

  constructor(content: Content) {
    this.content = new Map(content);
  }

  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Returns the rows of a table, to be changed. */
  change(table: string): Rows {
    const rows = this.content.get(table) ?? new Rows();
    if (this.#changed.has(table)) return rows;
    this.#changed.add(table);
    const copy = new Rows(rows.keys.slice(), rows.values.slice());
    this.content.set(table, copy);
    return copy;
  }

  clear(table: string): void {
    this.#changed.add(table);
    this.content.set(table, new Rows());
  }
}
