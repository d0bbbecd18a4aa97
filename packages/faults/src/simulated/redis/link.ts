import type { Random } from '../../random.ts';
import { runOutside } from '../simulatedProcess.ts';

/** What a connection does when its link is cut. */
interface Breakable {
  break(): void;
}

/** The network between one process and a simulated Redis, with the faults that a scheduler sets. */
export class Link {
  readonly random: Random;
  /** How much later each message arrives, in milliseconds. */
  delayMs = 0;
  readonly connections = new Set<Breakable>();
  readonly #late = new Set<Leg>();
  #isCut = false;
  #isFrozen = false;
  #dropsReply = false;

  constructor(random: Random) {
    this.random = random;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Loses all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true;
    this.resume();
    for (const connection of this.connections) connection.break();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Nothing arrives until `resume`. */
  freeze(): void {
    this.#isFrozen = true;
  }

  resume(): void {
    this.#isFrozen = false;
    for (const leg of this.#late) leg.arrive();
    this.#late.clear();
  }

  /** Loses the next reply, together with its connection. */
  dropReplies(): void {
    this.#dropsReply = true;
  }

  /** Whether a reply has to be lost. */
  takesReply(): boolean {
    const isTaken = this.#dropsReply;
    this.#dropsReply = false;
    return isTaken;
  }

  /** Whether a message has to wait for `resume`. */
  holds(leg: Leg): boolean {
    if (this.#isFrozen) this.#late.add(leg);
    return this.#isFrozen;
  }
}

/** One direction of a connection: messages arrive after 0 to 2 ms, in order. */
export class Leg {
  readonly #link: Link;
  #messages: (() => void)[] = [];
  /** How many have arrived, and wait for the link. */
  #due = 0;

  constructor(link: Link) {
    this.#link = link;
  }

  send(message: () => void): void {
    this.#messages.push(message);
    const arrive = () => {
      // It has arrived with a later one, or was lost.
      this.#due = Math.max(this.#due, this.#messages.indexOf(message) + 1);
      if (this.#due > 0 && !this.#link.holds(this)) this.arrive();
    };
    // Timers know whole milliseconds only.
    const ms = this.#link.random.from(0, 2) + this.#link.delayMs;
    runOutside(() => (ms === 0 ? setImmediate(arrive) : setTimeout(arrive, ms)));
  }

  arrive(): void {
    const arrived = this.#messages.splice(0, this.#due);
    this.#due = 0;
    for (const message of arrived) message();
  }

  /** Loses all messages after a random one. */
  loseSome(): void {
    this.#lose(this.#link.random.from(0, this.#messages.length));
  }

  loseAll(): void {
    this.#lose(0);
  }

  #lose(kept: number): void {
    this.#messages.length = kept;
    this.#due = Math.min(this.#due, kept);
  }
}
