import { AppError } from './appError.ts';

let clock = Date.UTC(2026, 0, 1);

/** The time of the help desk, which stores no data: it starts again with the process, one minute per row. */
export function now(): Date {
  clock += 60_000;
  return new Date(clock);
}

export interface Stored {
  readonly id: number;
  readonly createdAt: Date;
}

/** Rows in memory. */
export class Table<Row extends object> {
  readonly #rows = new Map<number, Row & Stored>();
  readonly #name: string;
  #lastId = 0;

  constructor(name: string) {
    this.#name = name;
  }

  all(): (Row & Stored)[] {
    return [...this.#rows.values()];
  }

  /** @throws {AppError} if no row has this id */
  get(id: number): Row & Stored {
    const row = this.#rows.get(id);
    if (!row) throw new AppError('NOT_FOUND', `The ${this.#name} ${id} does not exist.`);
    return row;
  }

  add(row: Row): Row & Stored {
    this.#lastId += 1;
    const stored = { ...row, id: this.#lastId, createdAt: now() };
    this.#rows.set(stored.id, stored);
    return stored;
  }

  /** Changes the properties that are not `undefined`. */
  change(id: number, changes: { readonly [Name in keyof Row]?: Row[Name] | undefined }): Row & Stored {
    const present = Object.entries(changes).filter(([, value]) => value !== undefined);
    const row = { ...this.get(id), ...Object.fromEntries(present) };
    this.#rows.set(id, row);
    return row;
  }

  remove(id: number): void {
    this.get(id);
    this.#rows.delete(id);
  }
}
