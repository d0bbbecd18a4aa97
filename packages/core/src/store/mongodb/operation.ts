/*
 * Hot path: every call of the store goes through here. One timer and one AbortController each, no race of promises.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandOperationOptions } from 'mongodb';
import type { StoreError } from '../storeError.ts';

/**
 * Options of a command: the signal aborts it, and closes its connection, when the deadline has passed. The driver's types
 * allow a signal on reads only, but 7.8.0 takes it on writes too: with a property that all commands know it passes.
 */
export type CommandCall = Pick<CommandOperationOptions, 'comment'> & { readonly signal: AbortSignal };

/**
 * Whether a failure leaves it open if anything was stored: `none` was sent that stores; it was, and only a server that
 * refused it takes the doubt away (`unless-refused`); or it is `standing`, since other calls may store it.
 */
export type Doubt = 'none' | 'unless-refused' | 'standing';

/** Between two looks at what another call has written and the majority has not confirmed yet, in milliseconds. */
const LOOK_MS = 10;

/** One call of the store on its way: what of it was sent, and the signal that stops the rest. */
export class Operation {
  /** Whether any command was sent. */
  isSent = false;
  doubt: Doubt = 'none';
  readonly call: CommandCall;
  readonly #controller = new AbortController();

  constructor() {
    this.call = { signal: this.#controller.signal };
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Before the next look at what the majority has not confirmed yet. */
  pause(): Promise<void> {
    return delay(LOOK_MS, undefined, this.call);
  }

  /**
   * A value for a command that stores nothing that anybody was promised, to put into its filter or document. The driver
   * (7.8.0) serializes a command in the moment in which it writes it to the socket, after it has found a server and a
   * connection, and asks each value for its `toBSON`. Its errors do not tell what was sent, a retry hides that there was
   * a first attempt, and its events are made for every call or for none.
   */
  sends<Value>(value: Value): Value {
    const marked = {
      toBSON: () => {
        this.isSent = true;
        return value;
      },
    };
    // For the driver it is the value; nobody else looks at it.
    return marked as Value;
  }

  /** The same for a command that stores. */
  stores<Value>(value: Value): Value {
    const marked = {
      toBSON: () => {
        this.isSent = true;
        // The second time it is the driver's own retry: that it is refused says nothing about the first attempt.
        this.doubt = this.doubt === 'none' ? 'unless-refused' : 'standing';
        return value;
      },
    };
    return marked as Value;
  }
}

/** The steps of a call. It may start no command after its operation was aborted. */
type Work<T> = (operation: Operation) => Promise<T>;

export interface RunOptions {
  /** The caller's: it ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Which part of the limit the call may take. Default: 1. */
  readonly share?: number;
  /** Whether it is let in however many are under way. */
  readonly isUrgent?: boolean;
}

export interface Operations {
  /** Runs a call of the port. @throws {StoreError} */
  run<T>(work: Work<T>, options?: RunOptions): Promise<T>;
  /** The same for what the store does on its own: it is never refused, not even while the store closes. */
  runOwn<T>(work: Work<T>): Promise<T>;
  /** Resolves when the database answers any of them, from now on. For one who waits: a later call takes its place. */
  response(): Promise<void>;
  /** Accepts no call any more, and resolves when those that were accepted have settled. */
  close(): Promise<void>;
}

export interface OperationLimits {
  /** The bound of every operation, in milliseconds. */
  readonly timeoutMs: number;
  /** How many may be under way, waiting or not. */
  readonly maxUnderWay: number;
  readonly toStoreError: (error: unknown, operation: Operation) => StoreError;
  readonly closed: () => StoreError;
  readonly overloaded: () => StoreError;
  readonly tooLate: (operation: Operation, timeoutMs: number) => StoreError;
}

/**
 * Bounds every call by a deadline, and how many there are at once. Only the deadline aborts a command that was sent, for
 * that closes its connection: clients that come and go could churn the pool. A caller's abort ends the waiting, and
 * skips what was not sent.
 */
export function createOperations(limits: OperationLimits): Operations {
  const { timeoutMs, maxUnderWay, toStoreError } = limits;
  let underWay = 0;
  let isClosed = false;
  let whenIdle: (() => void) | undefined;
  let next: PromiseWithResolvers<void> | undefined;

  function start<T>(
    work: Work<T>,
    limitMs: number,
    caller: AbortSignal | undefined,
    resolve: (result: T) => void,
    reject: (reason: unknown) => void,
  ): void {
    const operation = new Operation();
    underWay++;
    const timer = setTimeout(() => {
      const error = limits.tooLate(operation, limitMs);
      reject(error);
      operation.abort(error);
    }, limitMs);
    const onAbort = () => {
      reject(caller?.reason);
      if (!operation.isSent) operation.abort(caller?.reason);
    };
    caller?.addEventListener('abort', onAbort);
    const settle = () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
      underWay--;
      if (underWay === 0) whenIdle?.();
    };
    work(operation).then(
      (result) => {
        settle();
        if (next !== undefined && operation.isSent) {
          next.resolve();
          next = undefined;
        }
        resolve(result);
      },
      (error: unknown) => {
        settle();
        reject(toStoreError(error, operation));
      },
    );
  }

  return {
    run: (work, { signal, share = 1, isUrgent = false } = {}) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (isClosed) throw limits.closed();
        if (underWay >= maxUnderWay && !isUrgent) throw limits.overloaded();
        start(work, timeoutMs * share, signal, resolve, reject);
      }),
    runOwn: (work) => new Promise((resolve, reject) => start(work, timeoutMs, undefined, resolve, reject)),
    response() {
      next = Promise.withResolvers();
      return next.promise;
    },
    async close() {
      isClosed = true;
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
    },
  };
}
