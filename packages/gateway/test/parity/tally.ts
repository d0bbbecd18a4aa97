interface Count {
  readonly name: string;
  accepted: number;
  rejected: number;
}

/** Counts what became of generated cases: a generator that only makes garbage must not look like a success. */
export class Tally {
  readonly #counts = new Map<string, Count>();

  add(name: string, isAccepted: boolean): void {
    const count = this.#counts.get(name) ?? { name, accepted: 0, rejected: 0 };
    if (isAccepted) count.accepted += 1;
    else count.rejected += 1;
    this.#counts.set(name, count);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, { accepted, rejected }) => sum + accepted + rejected, 0);
  }

  /** Those of which fewer than this were accepted, or refused. */
  underrepresented(least: number): Count[] {
    return [...this.#counts.values()].filter(
      ({ accepted, rejected }) => Math.min(accepted, rejected) < least,
    );
  }

  /** One line to the terminal; not through the console, which is for what nobody expected. */
  print(title: string): void {
    const counts = [...this.#counts.values()].map(
      ({ name, accepted, rejected }) => `${name} ${accepted} accepted, ${rejected} refused`,
    );
    process.stdout.write(`${title}: ${counts.join('; ')}.\n`);
  }
}
