import type { Call, Outcome, Protocol } from './calls.ts';
import type { StreamEnd, StreamItem } from './streams.ts';

/** A call that a client has sent, and what it has learnt. */
export interface SentCall extends Call {
  readonly protocol: Protocol;
  /** By the clock of the laboratory, in milliseconds. */
  readonly sentAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
}

/** An order, which must have its effect once, however often it is sent. */
export interface Order {
  readonly text: string;
  /** The results that its client has received. The second and later ones must be replays of the first. */
  readonly results: { readonly run: string; readonly isReplayed: boolean }[];
  /** How its client has learnt what came of it: two results, an effect that it has found, or a key that was revoked. */
  knownBy: 'look' | 'result' | 'revoked' | undefined;
  /** Whether an error has told the client to look for the effect, and there was none. */
  wasBlocked: boolean;
}

/** What a subscriber has received, over all its connections. */
export interface Journey {
  readonly channel: string;
  /** Events and `resync`s, in their order. The first has no past. */
  readonly items: StreamItem[];
  /** Whether it had not received what was stored long before, until another event came. */
  isLate: boolean;
  /** Why it has stopped, although its client wants to go on. */
  deadBy: StreamEnd | undefined;
}

/** A client of a run. */
export interface RunReader {
  readonly key: string;
  readonly received: number[];
  resyncs: number;
  /** How it has ended: `undefined` while it goes on. */
  end: StreamEnd | undefined;
}

/** What all clients have seen. The rules of the laboratory are about it. */
export class History {
  readonly calls: SentCall[] = [];
  readonly orders: Order[] = [];
  readonly journeys: Journey[] = [];
  readonly readers: RunReader[] = [];
  /** The names of the faults that have begun. */
  readonly faults: string[] = [];
  /** What has happened, for a person who reads it; `undefined` if nobody does. */
  readonly lines: string[] | undefined;
  readonly #now: () => number;

  /** @param now returns the time of the laboratory in milliseconds */
  constructor(now: () => number, isRead: boolean) {
    this.#now = now;
    this.lines = isRead ? [] : undefined;
  }

  get now(): number {
    return this.#now();
  }

  note(line: () => string): void {
    this.lines?.push(`${String(this.now).padStart(6)} ${line()}`);
  }
}
