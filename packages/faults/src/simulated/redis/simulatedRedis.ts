import type { Random } from '../../random.ts';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { Connection, type Request } from './connection.ts';
import { Keyspace } from './keyspace.ts';
import { Link } from './link.ts';
import { ErrorReply, integer, type Reply } from './reply.ts';
import { runScript } from './runScript.ts';
import { SimulatedRedisClient } from './simulatedRedisClient.ts';

interface Blocked {
  readonly request: Request;
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

  /** Creates a client that behaves as one of `redis` 6.3.1 that is not connected. */
  client(process: SimulatedProcess): SimulatedRedisClient {
    const connect = (onOpen: () => void, onLost: (error: Error) => void) =>
      this.#connect(process, onOpen, onLost);
    return new SimulatedRedisClient({ process, random: this.#random, connect });
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

  #connect(process: SimulatedProcess, onOpen: () => void, onLost: (error: Error) => void): Connection {
    const link = this.link(process);
    const connection = new Connection({
      link,
      runId: this.#keys.runId,
      onLost,
      onRequests: (from, requests) => this.#whenRunning(from, () => this.#receive(from, requests)),
      onClose: (closed) => {
        forget();
        this.#connections.delete(closed);
        this.#unblock(closed);
      },
    });
    const forget = process.whenKilled(() => connection.abandon());
    this.#connections.add(connection);
    connection.open(
      () => this.#state !== 'down' && !link.isCut && connection.runId === this.#keys.runId,
      onOpen,
    );
    return connection;
  }

  #whenRunning(connection: Connection, run: () => void): void {
    if (this.#state === 'frozen') this.#stalled.push(run);
    else if (this.#state === 'up' && connection.runId === this.#keys.runId) run();
  }

  #receive(connection: Connection, requests: readonly Request[]): void {
    connection.inbox.push(...requests);
    if (!this.#blocked.has(connection)) this.#work(connection);
  }

  /** Runs the requests of a connection until one blocks it. */
  #work(connection: Connection): void {
    const replies: (() => void)[] = [];
    while (connection.inbox.length > 0 && !this.#blocked.has(connection)) {
      const request = connection.inbox.shift() as Request;
      const reply = this.#run(request.words);
      if (reply === null && request.words.includes('BLOCK')) this.#block(connection, request);
      else replies.push(() => request.answer(reply));
    }
    if (replies.length > 0) connection.reply(replies);
    this.#serveBlocked();
  }

  #run(words: readonly string[]): Reply | ErrorReply {
    this.#keys.now = Date.now();
    try {
      if (words[0] === 'HELLO') return 'OK';
      return words[0] === 'EVAL' ? runScript(this.#keys, words) : this.#keys.call(words);
    } catch (error) {
      if (error instanceof ErrorReply) return error;
      throw error;
    }
  }

  #block(connection: Connection, request: Request): void {
    // The client is gone, and would never be served.
    if (!connection.isOpen) return;
    const { words } = request;
    const timer = setTimeout(
      () => this.#whenRunning(connection, () => this.#finish(connection, null)),
      integer(words[words.indexOf('BLOCK') + 1]),
    );
    this.#blocked.set(connection, { request, key: words[words.indexOf('STREAMS') + 1] ?? '', timer });
  }

  /** Replies to the clients that wait for streams that have new entries. */
  #serveBlocked(): void {
    if (this.#keys.grown.size === 0) return;
    const grown = new Set(this.#keys.grown);
    this.#keys.grown.clear();
    for (const [connection, { key, request }] of this.#blocked) {
      if (!grown.has(key)) continue;
      const reply = this.#run(request.words);
      if (reply !== null) this.#finish(connection, reply);
    }
  }

  #finish(connection: Connection, reply: Reply | ErrorReply): void {
    const blocked = this.#unblock(connection);
    if (blocked === undefined) return;
    connection.reply([() => blocked.request.answer(reply)]);
    this.#work(connection);
  }

  #unblock(connection: Connection): Blocked | undefined {
    const blocked = this.#blocked.get(connection);
    clearTimeout(blocked?.timer);
    this.#blocked.delete(connection);
    return blocked;
  }
}
