import { setTimeout as sleep } from 'node:timers/promises';
import { LostConnection } from '../client/transport.ts';
import type { Random } from '@petstore/testing/random';
import type { Link } from './link.ts';
import { runIn } from './simulatedProcess.ts';
import type { RunningProcess } from './runningProcess.ts';

export class Connection {
  readonly to: RunningProcess;
  readonly #link: Link;
  readonly #random: Random;
  readonly #cut = Promise.withResolvers<never>();
  readonly #onCut: (() => void)[] = [];
  isOpen = true;

  constructor(to: RunningProcess, link: Link, random: Random) {
    this.to = to;
    this.#link = link;
    this.#random = random;
    to.connections.add(this);
    this.#cut.promise.catch(() => {});
  }

  /** Ends the connection after its response. */
  finish(): void {
    this.isOpen = false;
    this.to.connections.delete(this);
  }

  /** Ends the connection for both sides, whatever is on its way. */
  cut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.to.connections.delete(this);
    this.#cut.reject(new LostConnection());
    // A killed process learns nothing more.
    const { process } = this.to;
    if (process.isAlive) runIn(process, () => this.#onCut.forEach((listener) => listener()));
  }

  /** Calls a listener of the process when the connection is cut. */
  onCut(listener: () => void): void {
    this.#onCut.push(listener);
  }

  /** @throws `LostConnection` if the connection is cut first */
  race<T>(result: Promise<T> | T): Promise<T> {
    return Promise.race([result, this.#cut.promise]);
  }

  /** Carries something to the other side. @throws `LostConnection` if the connection is cut meanwhile */
  async carry(): Promise<void> {
    const ms = this.#random.below(this.#link.longestMs + 1);
    if (ms > 0) await this.race(sleep(ms));
    while (this.#link.thawed) await this.race(this.#link.thawed);
    if (!this.isOpen) throw new LostConnection();
  }

  /** Carries a response, which may be lost. @throws `LostConnection` */
  async carryResponse(): Promise<void> {
    if (this.#random.chance(this.#link.lossRate)) this.cut();
    await this.carry();
  }
}
