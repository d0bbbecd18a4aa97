import net from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@petstore/testing/random';
import type { Link } from '../link.ts';
import { runIn, runOutside, type SimulatedProcess } from '../simulatedProcess.ts';
import { parseCommands } from './resp.ts';

interface ConnectionOptions {
  readonly process: SimulatedProcess;
  readonly link: Link;
  readonly random: Random;
  /** The server that accepts it: another one does not know it. */
  readonly runId: string;
  /** Whether the server accepts it, which is called when the request to connect arrives. */
  readonly isAccepted: () => boolean;
  /** Called on the server for commands that arrive together. */
  readonly onCommands: (connection: Connection, commands: readonly (readonly string[])[]) => void;
  /** Called when one of both has closed it. */
  readonly onClose: (connection: Connection) => void;
}

/** One direction of a connection: messages arrive in order. */
class Leg {
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

/** A connection between a client and a simulated Redis: the socket of the client. */
export class Connection extends Duplex {
  /** Commands that have arrived, and wait for the one that blocks the connection. */
  readonly inbox: (readonly string[])[] = [];
  readonly runId: string;
  readonly #options: ConnectionOptions;
  readonly #commands: Leg;
  readonly #replies: Leg;
  readonly #forget: () => void;
  #timer: NodeJS.Timeout | undefined;
  isOpen = true;

  constructor(options: ConnectionOptions) {
    super();
    const { isAccepted, link, process, random, runId } = options;
    this.runId = runId;
    this.#options = options;
    this.#commands = new Leg(link, random);
    this.#replies = new Leg(link, random);
    link.connections.add(this);
    // Some of its commands may still arrive.
    this.#forget = process.whenKilled(() => {
      this.#close();
      this.#replies.loseAll();
      this.#commands.loseSome();
    });
    this.#commands.send(() => {
      if (isAccepted()) this.#arrive(() => this.emit('connect'));
      else this.cut('connect ECONNREFUSED');
    });
  }

  /** Emits `timeout` after a time, in milliseconds. A client uses it until it is connected. */
  setTimeout(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.emit('timeout'), ms);
  }

  reply(replies: string): void {
    if (!this.isOpen) return;
    const { link, random } = this.#options;
    if (random.chance(link.lossRate)) this.cut();
    else this.#arrive(() => this.push(Buffer.from(replies, 'latin1')));
  }

  /** Loses the connection: some of the messages on their way arrive. */
  cut(reason = 'read ECONNRESET'): void {
    if (!this.isOpen) return;
    this.#close();
    this.#commands.loseSome();
    this.#replies.loseSome();
    this.#arrive(() => this.destroy(new Error(reason)));
  }

  override _read(): void {}

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const commands = parseCommands(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString('latin1'));
    if (this.isOpen) this.#commands.send(() => this.#options.onCommands(this, commands));
    done();
  }

  /** The client closes it: commands on their way arrive. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#close();
    this.#replies.loseAll();
    done(error);
  }

  /** Does something in the process of the client after the messages that are on their way to it. */
  #arrive(action: () => void): void {
    const { process } = this.#options;
    this.#replies.send(() => process.isAlive && runIn(process, action));
  }

  #close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#forget();
    this.#options.link.connections.delete(this);
    this.#options.onClose(this);
  }
}

const { createConnection } = net;

// A client of `redis` 6.3.1 has no option for a socket of one's own, but hands its options to this function.
Object.assign(net, {
  createConnection: (options: { readonly open?: () => Connection }, ...rest: readonly []) =>
    options.open?.() ?? createConnection(options as net.NetConnectOpts, ...rest),
});
