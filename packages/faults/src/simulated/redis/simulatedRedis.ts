import { createClient } from 'redis';
import type { Random } from '@petstore/testing/random';
import { Gate, Link } from '../link.ts';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { Connection } from './connection.ts';
import { Keyspace } from './keyspace.ts';
import { runScript } from './compileLua.ts';
import { formatReply, integer, type Reply } from './resp.ts';

interface Blocked {
  readonly words: readonly string[];
  readonly key: string;
  readonly timer: NodeJS.Timeout;
}

/** A Redis in memory, on the clock and the timers of the process, with the faults that a scheduler sets. */
export class SimulatedRedis {
  readonly #random: Random;
  readonly #keys: Keyspace;
  readonly #links = new Map<SimulatedProcess, Link>();
  readonly #connections = new Set<Connection>();
  readonly #blocked = new Map<Connection, Blocked>();
  readonly #gate = new Gate();
  #isUp = true;

  constructor(random: Random) {
    this.#random = random;
    this.#keys = new Keyspace(random);
  }

  /** The network between a process and this server. */
  link(process: SimulatedProcess): Link {
    const link = this.#links.get(process) ?? new Link();
    this.#links.set(process, link);
    return link;
  }

  /** Creates a client of `redis` that is not connected. */
  client(process: SimulatedProcess) {
    // Passed to `net.createConnection`.
    const socket: object = { open: () => this.#connect(process) };
    return createClient({ socket, RESP: 2 });
  }

  /** Ends the server. @param losesMs what was written within this time is lost: its files lack it. `Infinity`: it has no files */
  kill(losesMs = 0): void {
    this.#isUp = false;
    this.#gate.thaw();
    for (const connection of this.#connections) connection.cut();
    this.#keys.restart(losesMs);
  }

  /** Starts the server after `kill`. */
  start(): void {
    this.#isUp = true;
  }

  /** Suspends the server (SIGSTOP): connections stay open, and are accepted. */
  freeze(): void {
    if (this.#isUp) this.#gate.freeze();
  }

  resume(): void {
    this.#gate.thaw();
  }

  /** Removes all keys. */
  flush(): void {
    this.#keys.now = Date.now();
    this.#keys.call(['FLUSHALL']);
  }

  #connect(process: SimulatedProcess): Connection {
    const link = this.link(process);
    const { runId } = this.#keys;
    const connection = new Connection({
      process,
      link,
      random: this.#random,
      runId,
      isAccepted: () => this.#isUp && !link.isCut && runId === this.#keys.runId,
      onCommands: (from, commands) => void this.#whenRunning(from, () => this.#receive(from, commands)),
      onClose: (closed) => {
        this.#connections.delete(closed);
        this.#unblock(closed);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  async #whenRunning(connection: Connection, run: () => void): Promise<void> {
    // It may be suspended again.
    while (this.#gate.thawed) await this.#gate.thawed;
    if (this.#isUp && connection.runId === this.#keys.runId) run();
  }

  #receive(connection: Connection, commands: readonly (readonly string[])[]): void {
    connection.inbox.push(...commands);
    if (!this.#blocked.has(connection)) this.#work(connection);
  }

  /** Runs the commands of a connection until one blocks it. */
  #work(connection: Connection): void {
    let replies = '';
    while (connection.inbox.length > 0 && !this.#blocked.has(connection)) {
      const words = connection.inbox.shift() ?? [];
      const reply = this.#run(words);
      if (reply === null && words.includes('BLOCK')) this.#block(connection, words);
      else replies += formatReply(reply);
    }
    if (replies !== '') connection.reply(replies);
    this.#serveBlocked();
  }

  #run(words: readonly string[]): Reply {
    this.#keys.now = Date.now();
    if (words[0] === 'CLIENT') return 'OK';
    return words[0] === 'EVAL' ? runScript(this.#keys, words) : this.#keys.call(words);
  }

  #block(connection: Connection, words: readonly string[]): void {
    // The client is gone, and would never be served.
    if (!connection.isOpen) return;
    const timer = setTimeout(
      () => void this.#whenRunning(connection, () => this.#finish(connection, null)),
      integer(words[words.indexOf('BLOCK') + 1]),
    );
    this.#blocked.set(connection, { words, key: words[words.indexOf('STREAMS') + 1] ?? '', timer });
  }

  /** Replies to the clients that wait for streams that have new entries. */
  #serveBlocked(): void {
    if (this.#keys.grown.size === 0) return;
    const grown = new Set(this.#keys.grown);
    this.#keys.grown.clear();
    for (const [connection, { key, words }] of this.#blocked) {
      if (!grown.has(key)) continue;
      const reply = this.#run(words);
      if (reply !== null) this.#finish(connection, reply);
    }
  }

  #finish(connection: Connection, reply: Reply): void {
    if (this.#unblock(connection) === undefined) return;
    connection.reply(formatReply(reply));
    this.#work(connection);
  }

  #unblock(connection: Connection): Blocked | undefined {
    const blocked = this.#blocked.get(connection);
    clearTimeout(blocked?.timer);
    this.#blocked.delete(connection);
    return blocked;
  }
}
