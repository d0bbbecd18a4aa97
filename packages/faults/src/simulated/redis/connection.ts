import type { ErrorReply, Reply } from './reply.ts';
import { Leg, type Link } from './link.ts';

/** A command on its way, and what its client does with the reply. */
export interface Request {
  readonly words: readonly string[];
  readonly answer: (reply: Reply | ErrorReply) => void;
}

interface ConnectionOptions {
  readonly link: Link;
  /** The server that accepts it: another one does not know it. */
  readonly runId: string;
  /** Called on the server for requests that arrive together. */
  readonly onRequests: (connection: Connection, requests: readonly Request[]) => void;
  /** Called for the client when the connection is lost, or refused. */
  readonly onLost: (error: Error) => void;
  /** Called when the server closes its end. */
  readonly onClose: (connection: Connection) => void;
}

/** A connection between a client and a simulated Redis. */
export class Connection {
  readonly runId: string;
  /** Requests that have arrived, and wait for the one that blocks the connection. */
  readonly inbox: Request[] = [];
  readonly #options: ConnectionOptions;
  readonly #requests: Leg;
  readonly #replies: Leg;
  #isOpen = true;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.#requests = new Leg(options.link);
    this.#replies = new Leg(options.link);
    options.link.connections.add(this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Connects. @param isUp whether the server accepts it */
  open(isUp: () => boolean, onOpen: () => void): void {
    this.#requests.send(() => {
      if (isUp()) this.#replies.send(onOpen);
      else this.break('connect ECONNREFUSED');
    });
  }

  send(requests: readonly Request[]): void {
    if (this.#isOpen) this.#requests.send(() => this.#options.onRequests(this, requests));
  }

  reply(replies: readonly (() => void)[]): void {
    if (!this.#isOpen) return;
    if (this.#options.link.takesReply()) this.break();
    else
      this.#replies.send(() => {
        for (const arrive of replies) arrive();
      });
  }

  /** Loses the connection: some of the messages on their way arrive. */
  break(reason = 'read ECONNRESET'): void {
    if (!this.#isOpen) return;
    this.#close();
    this.#requests.loseSome();
    this.#replies.loseSome();
    this.#replies.send(() => this.#options.onLost(new Error(reason)));
  }

  /** The client closes it: requests on their way arrive. */
  close(): void {
    this.#close();
    this.#replies.loseAll();
  }

  /** The process of the client was killed. */
  abandon(): void {
    this.close();
    this.#requests.loseSome();
  }

  #close(): void {
    this.#isOpen = false;
    this.#options.link.connections.delete(this);
    this.#options.onClose(this);
  }
}
