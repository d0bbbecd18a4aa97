import { type Fault, isOver } from '../history/fault.ts';
import type { Random } from '@petstore/testing/random';

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

const linkFaults = {
  cut: [
    (link: Link) => {
      link.isCut = true;
      link.cut();
    },
    (link: Link) => void (link.isCut = false),
  ],
  frozen: [(link: Link) => link.freeze(), (link: Link) => link.thaw()],
  lossy: [(link: Link) => void (link.lossRate = 0.5), (link: Link) => void (link.lossRate = 0)],
  slow: [(link: Link) => void (link.longestMs = 800), (link: Link) => void (link.longestMs = 3)],
} as const;

/** A fault of one link. @param choose returns it, if there is one */
export const faultOfLink = (
  name: string,
  kind: keyof typeof linkFaults,
  choose: (random: Random) => Link | undefined,
): Fault => ({
  name,
  begin(random) {
    const link = choose(random);
    const [begin, end] = linkFaults[kind];
    if (link === undefined) return isOver;
    begin(link);
    return () => end(link);
  },
});
