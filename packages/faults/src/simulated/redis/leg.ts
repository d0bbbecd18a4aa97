import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../random.ts';
import type { Link } from '../link.ts';
import { runOutside } from '../simulatedProcess.ts';

/** One direction of a connection: messages arrive in order. */
export class Leg {
  readonly #link: Link;
  readonly #random: Random;
  readonly #messages: (() => void)[] = [];

  constructor(link: Link, random: Random) {
    this.#link = link;
    this.#random = random;
  }

  send(message: () => void): void {
    this.#messages.push(message);
    void runOutside(() => this.#carry(message));
  }

  async #carry(message: () => void): Promise<void> {
    await sleep(this.#random.below(this.#link.longestMs + 1));
    // It may be frozen again.
    while (this.#link.thawed) await this.#link.thawed;
    // It has arrived with a later one, or was lost.
    const arrived = this.#messages.splice(0, this.#messages.indexOf(message) + 1);
    for (const each of arrived) each();
  }

  /** Loses all messages after a random one. */
  loseSome(): void {
    this.#messages.length = this.#random.from(0, this.#messages.length);
  }

  loseAll(): void {
    this.#messages.length = 0;
  }
}
