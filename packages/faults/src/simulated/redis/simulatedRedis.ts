import { createClient } from 'redis';
import type { Random } from '../../random.ts';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { Connection } from './connection.ts';
import { Keyspace } from './keyspace.ts';
import { Link } from './link.ts';
import { ErrorReply, integer, type Reply } from './reply.ts';
import { formatReply } from './resp.ts';
import { runScript } from './runScript.ts';

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
  /** What waits for `resume`. */
  #stalled: (() => void)[] = [];
  #state: 'up' | 'frozen' | 'down' = 'up';

  constructor(random: Random) {
    this.#random = random;
    this.#keys = new Keyspace(random);
  }

  /** The network between a process and this server. */
  link(process: SimulatedProcess): Link {
    const link = this.#links.get(process) ?? new Link(this.#random);
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
    this.#state = 'down';
    this.#stalled = [];
    for (const connection of this.#connections) connection.break();
    this.#keys.restart(losesMs);
  }

  /** Starts the server after `kill`. */
  start(): void {
    this.#state = 'up';
  }

  /** Suspends the server (SIGSTOP): connections stay open, and are accepted. */
  freeze(): void {
    if (this.#state === 'up') this.#state = 'frozen';
  }

  resume(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'up';
    const stalled = this.#stalled;
    this.#stalled = [];
    for (const each of stalled) each();
  }

  /** Replaces the server with a replica that lacks what was written within this time, in milliseconds. */
  failover(losesMs: number): void {
    this.kill(losesMs);
    this.start();
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
      runId,
      isAccepted: () => this.#state !== 'down' && !link.isCut && runId === this.#keys.runId,
      onCommands: (from, commands) => this.#whenRunning(from, () => this.#receive(from, commands)),
      onClose: (closed) => {
        this.#connections.delete(closed);
        this.#unblock(closed);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  #whenRunning(connection: Connection, run: () => void): void {
    if (this.#state === 'frozen') this.#stalled.push(run);
    else if (this.#state === 'up' && connection.runId === this.#keys.runId) run();
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

  #run(words: readonly string[]): Reply | ErrorReply {
    this.#keys.now = Date.now();
    try {
      if (words[0] === 'CLIENT') return 'OK';
      return words[0] === 'EVAL' ? runScript(this.#keys, words) : this.#keys.call(words);
    } catch (error) {
      if (error instanceof ErrorReply) return error;
      throw error;
    }
  }

  #block(connection: Connection, words: readonly string[]): void {
    // The client is gone, and would never be served.
    if (!connection.isOpen) return;
    const timer = setTimeout(
      () => this.#whenRunning(connection, () => this.#finish(connection, null)),
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

  #finish(connection: Connection, reply: Reply | ErrorReply): void {
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
