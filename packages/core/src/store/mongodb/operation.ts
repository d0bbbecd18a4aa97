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
export type CommandOptions = Pick<CommandOperationOptions, 'comment'> & { readonly signal: AbortSignal };

/**
 * Whether a failure leaves it open if anything was stored: `none` was sent that stores; it was, and only a server that
 * refused it takes the doubt away (`unless-refused`); or it is `standing`, since other calls may store it.
 */
export type WriteOutcome = 'not-stored' | 'unless-rejected' | 'unknown';

/** Between two looks at what another call has written and the majority has not confirmed yet, in milliseconds. */
const POLL_MS = 10;

/** One call of the store on its way: what of it was sent, and the signal that stops the rest. */
export class StoreOperation {
  /** Whether any command was sent. */
  isSent = false;
  writeOutcome: WriteOutcome = 'not-stored';
  readonly commandOptions: CommandOptions;
  readonly #controller = new AbortController();

  constructor() {
    this.commandOptions = { signal: this.#controller.signal };
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Before the next look at what the majority has not confirmed yet. */
  pause(): Promise<void> {
    return delay(POLL_MS, undefined, this.commandOptions);
  }

  /**
   * A value for a command that stores nothing that anybody was promised, to put into its filter or document. The driver
   * (7.8.0) serializes a command in the moment in which it writes it to the socket, after it has found a server and a
   * connection, and asks each value for its `toBSON`. Its errors do not tell what was sent, a retry hides that there was
   * a first attempt, and its events are made for every call or for none.
   */
  trackSend<Value>(value: Value): Value {
    const tracked = {
      toBSON: () => {
        this.isSent = true;
        return value;
      },
    };
    // For the driver it is the value; nobody else looks at it.
    return tracked as Value;
  }

  /** The same for a command that stores. */
  trackWrite<Value>(value: Value): Value {
    const tracked = {
      toBSON: () => {
        this.isSent = true;
        // The second time it is the driver's own retry: that it is refused says nothing about the first attempt.
        this.writeOutcome = this.writeOutcome === 'not-stored' ? 'unless-rejected' : 'unknown';
        return value;
      },
    };
    return tracked as Value;
  }
}

/** The steps of a call. It may start no command after its operation was aborted. */
type Work<T> = (operation: StoreOperation) => Promise<T>;

export interface OperationOptions {
  /** The caller's: it ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Which part of the limit the call may take. Default: 1. */
  readonly timeoutShare?: number;
  /** Whether it is let in however many are under way. */
  readonly ignoresLimit?: boolean;
}

export interface OperationRunner {
  /** Runs a call of the port. @throws {StoreError} */
  run<T>(work: Work<T>, options?: OperationOptions): Promise<T>;
  /** The same for what the store does on its own: it is never refused, not even while the store closes. */
  runInternal<T>(work: Work<T>): Promise<T>;
  /** Resolves when the database answers any of them, from now on. For one who waits: a later call takes its place. */
  nextResponse(): Promise<void>;
  /** Accepts no call any more, and resolves when those that were accepted have settled. */
  close(): Promise<void>;
}

export interface OperationLimits {
  /** The bound of every operation, in milliseconds. */
  readonly timeoutMs: number;
  /** How many may be under way, waiting or not. */
  readonly maxConcurrent: number;
  readonly toStoreError: (error: unknown, operation: StoreOperation) => StoreError;
  readonly closed: () => StoreError;
  readonly overloaded: () => StoreError;
  readonly timedOut: (operation: StoreOperation, timeoutMs: number) => StoreError;
}

/**
 * Bounds every call by a deadline, and how many there are at once. Only the deadline aborts a command that was sent, for
 * that closes its connection: clients that come and go could churn the pool. A caller's abort ends the waiting, and
 * skips what was not sent.
 */
export function createOperationRunner(limits: OperationLimits): OperationRunner {
  const { timeoutMs, maxConcurrent, toStoreError } = limits;
  let active = 0;
  let isClosed = false;
  let onIdle: (() => void) | undefined;
  let responseWaiter: PromiseWithResolvers<void> | undefined;

  function startOperation<T>(
    work: Work<T>,
    limitMs: number,
    caller: AbortSignal | undefined,
    resolve: (result: T) => void,
    reject: (reason: unknown) => void,
  ): void {
    const operation = new StoreOperation();
    active++;
    const timer = setTimeout(() => {
      const error = limits.timedOut(operation, limitMs);
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
      active--;
      if (active === 0) onIdle?.();
    };
    work(operation).then(
      (result) => {
        settle();
        if (responseWaiter !== undefined && operation.isSent) {
          responseWaiter.resolve();
          responseWaiter = undefined;
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
    run: (work, { signal, timeoutShare = 1, ignoresLimit = false } = {}) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (isClosed) throw limits.closed();
        if (active >= maxConcurrent && !ignoresLimit) throw limits.overloaded();
        startOperation(work, timeoutMs * timeoutShare, signal, resolve, reject);
      }),
    runInternal: (work) =>
      new Promise((resolve, reject) => startOperation(work, timeoutMs, undefined, resolve, reject)),
    nextResponse() {
      responseWaiter = Promise.withResolvers();
      return responseWaiter.promise;
    },
    async close() {
      isClosed = true;
      if (active > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
    },
  };
}
