import { EventEmitter } from 'node:events';
import type { Random } from '../../random.ts';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { fromBytes, toBytes } from './bytes.ts';
import type { Connection } from './connection.ts';
import { ErrorReply, type Reply, StatusReply } from './reply.ts';

interface Command {
  readonly words: readonly string[];
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

interface ClientOptions {
  readonly process: SimulatedProcess;
  readonly random: Random;
  /** Connects to the server. `onLost` is called for a refused connection too. */
  readonly connect: (onOpen: () => void, onLost: (error: Error) => void) => Connection;
}

/** A class of errors of `redis`, which the product knows by this name. */
class DisconnectsClientError extends Error {
  constructor() {
    super('Disconnects client');
  }
}

class ClientClosedError extends Error {
  constructor() {
    super('The client is closed');
  }
}

const connectTimeoutMs = 5000;

/**
 * A client that behaves as one of `redis` 6.3.1: commands wait for a connection; those that were sent reject when it is lost; it
 * connects again by itself. Nothing resolves once the process is killed. The timeout of commands that wait for a connection, 5 s,
 * is left out: those of the product pass earlier.
 */
export class SimulatedRedisClient extends EventEmitter {
  readonly #options: ClientOptions;
  #connection: Connection | undefined;
  #isOpen = false;
  #isReady = false;
  #isWriting = false;
  #waitingToWrite: Command[] = [];
  #waitingForReply: Command[] = [];
  #onEnd = (): void => {};

  constructor(options: ClientOptions) {
    super();
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get #isAlive(): boolean {
    return this.#options.process.isAlive;
  }

  async connect(): Promise<void> {
    if (!this.#isAlive) return new Promise(() => {});
    if (this.#isOpen) throw new Error('Socket already opened');
    this.#isOpen = true;
    await this.#connect(0);
  }

  /** @returns what the script returns, with `null` for nil and false */
  async eval(
    script: string,
    { arguments: args, keys }: { readonly keys: readonly string[]; readonly arguments: readonly string[] },
  ): Promise<unknown> {
    const words = ['EVAL', script, String(keys.length), ...keys.map(toBytes), ...args.map(toBytes)];
    return decode(await this.sendCommand(words));
  }

  async xRead(
    { id, key }: { readonly key: string; readonly id: string },
    options: { readonly BLOCK: number; readonly COUNT: number },
  ) {
    const { BLOCK, COUNT } = options;
    const words = ['XREAD', 'COUNT', String(COUNT), 'BLOCK', String(BLOCK), 'STREAMS', toBytes(key), id];
    const reply = decode(await this.sendCommand(words)) as [string, [string, string[]][]][] | null;
    return (
      reply?.map(([name, entries]) => ({
        name,
        messages: entries.map(([at, fields]) => ({ id: at, message: fieldsOf(fields) })),
      })) ?? null
    );
  }

  sendCommand(words: readonly string[]): Promise<Reply> {
    if (!this.#isAlive) return new Promise(() => {});
    if (!this.#isOpen) return Promise.reject(new ClientClosedError());
    return new Promise((resolve, reject) => {
      this.#waitingToWrite.push({ words, resolve, reject });
      this.#scheduleWrite();
    });
  }

  close(): Promise<void> {
    if (!this.#isAlive) return new Promise(() => {});
    if (!this.#isOpen) return Promise.reject(new ClientClosedError());
    this.#isOpen = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEnd = resolve;
    this.#endIfIdle();
    return promise;
  }

  destroy(): void {
    if (!this.#isAlive) return;
    this.#rejectAll(new DisconnectsClientError());
    this.#isOpen = false;
    this.#end();
  }

  async #connect(attempts: number): Promise<void> {
    const { random } = this.#options;
    for (let attempt = attempts; ; attempt += 1) {
      try {
        await this.#openConnection();
        this.#isReady = this.#isOpen;
        this.#scheduleWrite();
        return;
      } catch (error) {
        this.#connection?.close();
        this.#connection = undefined;
        if (!this.#isOpen) throw error;
        this.#fail(error as Error);
        await new Promise<void>((resolve) => {
          const wake = () => this.#isAlive && resolve();
          setTimeout(wake, Math.min(2 ** attempt * 50, 2000) + random.below(200));
        });
        if (!this.#isOpen) throw error;
      }
    }
  }

  /** Connects, and waits for the reply to the greeting. */
  #openConnection(): Promise<void> {
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    const giveUp = () => this.#isAlive && reject(new Error('Connection timeout'));
    const timer = setTimeout(giveUp, connectTimeoutMs);
    const greet = () => {
      clearTimeout(timer);
      this.#write([{ words: ['HELLO'], resolve: () => resolve(), reject }]);
    };
    const connection = this.#options.connect(greet, (error) => {
      clearTimeout(timer);
      reject(error);
      if (this.#connection === connection && this.#isReady) this.#lose(error);
    });
    this.#connection = connection;
    return promise;
  }

  #lose(reason: Error): void {
    this.#isReady = false;
    this.#connection = undefined;
    this.#fail(reason);
    if (this.#isOpen) this.#connect(1).catch(() => {});
  }

  #scheduleWrite(): void {
    if (!this.#isReady || this.#isWriting || this.#waitingToWrite.length === 0) return;
    this.#isWriting = true;
    setImmediate(() => {
      this.#isWriting = false;
      if (!this.#isReady || !this.#isAlive) return;
      const commands = this.#waitingToWrite;
      this.#waitingToWrite = [];
      this.#write(commands);
    });
  }

  #write(commands: readonly Command[]): void {
    this.#waitingForReply.push(...commands);
    const requests = commands.map((command) => ({
      words: command.words,
      answer: (reply: Reply | ErrorReply) => {
        this.#waitingForReply.shift();
        if (reply instanceof ErrorReply) command.reject(reply);
        else command.resolve(reply);
        if (!this.#isOpen) this.#endIfIdle();
      },
    }));
    this.#connection?.send(requests);
  }

  #fail(error: Error): void {
    this.emit('error', error);
    if (!this.#isOpen) this.#rejectAll(error);
    for (const { reject } of this.#waitingForReply.splice(0)) reject(error);
  }

  #rejectAll(error: Error): void {
    for (const { reject } of [...this.#waitingForReply.splice(0), ...this.#waitingToWrite.splice(0)])
      reject(error);
  }

  #endIfIdle(): void {
    if (this.#waitingToWrite.length === 0 && this.#waitingForReply.length === 0) this.#end();
  }

  #end(): void {
    this.#isReady = false;
    this.#connection?.close();
    this.#connection = undefined;
    this.#onEnd();
  }
}

/** A reply as `redis` returns it. */
function decode(reply: Reply): unknown {
  if (typeof reply === 'string') return fromBytes(reply);
  if (reply instanceof StatusReply) return reply.text;
  return reply !== null && typeof reply === 'object' ? reply.map(decode) : reply;
}

function fieldsOf(list: readonly string[]): { readonly channel: string } & Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) fields[list[at] ?? ''] = list[at + 1] ?? '';
  return fields as { readonly channel: string };
}
