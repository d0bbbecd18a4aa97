/** Holds up what passes it while it is frozen. */
export class Gate {
  #thawed: PromiseWithResolvers<void> | undefined;

  freeze(): void {
    this.#thawed ??= Promise.withResolvers<void>();
  }

  thaw(): void {
    this.#thawed?.resolve();
    this.#thawed = undefined;
  }

  /** Resolves when it is not frozen; `undefined` if that is now. */
  get thawed(): Promise<void> | undefined {
    return this.#thawed?.promise;
  }
}

/** The network between a process and its clients, or a server: while it is frozen, nothing arrives. */
export class Link extends Gate {
  /** The longest that one way takes, in milliseconds. */
  longestMs = 3;
  /** The probability that a response is lost with its connection. */
  lossRate = 0;
  /** Whether no connection can be opened. */
  isCut = false;
  readonly connections = new Set<{ cut(): void }>();

  /** Loses all connections. */
  cut(): void {
    this.thaw();
    for (const connection of this.connections) connection.cut();
  }
}
