interface Count {
  readonly name: string;
  accepted: number;
  rejected: number;
}

/** Counts accepted and rejected inputs by name, so that a generator of only invalid inputs does not look like a success. */
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

  /** The counts with fewer than `least` accepted or rejected inputs. */
  underrepresented(least: number): Count[] {
    return [...this.#counts.values()].filter(
      ({ accepted, rejected }) => Math.min(accepted, rejected) < least,
    );
  }

  /** Prints one line to stdout. Not by the console, because unexpected console output fails a test. */
  print(title: string): void {
    const counts = [...this.#counts.values()].map(
      ({ name, accepted, rejected }) => `${name} ${accepted} accepted, ${rejected} rejected`,
    );
    process.stdout.write(`${title}: ${counts.join('; ')}.\n`);
  }
}
