// Hot path of all calls of the store: one timer and one AbortController each, without Promise.race.
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandOperationOptions } from 'mongodb';
import { type DatabaseLabel, storeError, toStoreError, type WriteOutcome } from './errors.ts';

/**
 * Options of a command. Its signal closes the connection at the deadline. The types allow one for reads only, but 7.8.0
 * accepts it for writes; `comment`, which all commands have, makes the type assignable.
 */
export type CommandOptions = Pick<CommandOperationOptions, 'comment'> & { readonly signal: AbortSignal };

/** Time between two reads of data that the majority has not confirmed yet, in milliseconds. */
const MAJORITY_POLL_MS = 10;

/** A running call of the store: tracks what was sent and holds the signal that aborts it. */
export class StoreOperation {
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

  /** Waits before the next read of data that the majority has not confirmed yet. */
  pause(): Promise<void> {
    return delay(MAJORITY_POLL_MS, undefined, this.commandOptions);
  }

  /**
   * Wraps a value in the filter or document of a command to detect when the command is sent. For reads, and for writes that
   * no caller depends on. The driver (7.8.0) serializes a command immediately before it writes it to the socket, after it
   * has selected a server and a connection, and calls `toBSON` on each value. Other sources do not suffice: its errors do
   * not contain what was sent, a retry hides the first attempt, and its events exist for every call or for none.
   */
  trackSend<Value>(value: Value): Value {
    const tracked = {
      toBSON: () => {
        this.isSent = true;
        return value;
      },
    };
    // Only the driver uses it, and serializes the value.
    return tracked as Value;
  }

  /** As `trackSend`, for a write that the caller depends on. It also updates `writeOutcome`. */
  trackWrite<Value>(value: Value): Value {
    const tracked = {
      toBSON: () => {
        this.isSent = true;
        // The second call is a retry of the driver: if that is rejected, the first attempt may still have succeeded.
        this.writeOutcome = this.writeOutcome === 'not-stored' ? 'unless-rejected' : 'unknown';
        return value;
      },
    };
    return tracked as Value;
  }
}

/** The commands of a call. It must not start a command after its operation was aborted. */
type Work<T> = (operation: StoreOperation) => Promise<T>;

/** Settles the promise of a call. */
interface Settle<T> {
  readonly resolve: (result: T) => void;
  readonly reject: (reason: unknown) => void;
}

export interface OperationOptions {
  /** The caller's signal. It rejects the call. */
  readonly signal?: AbortSignal | undefined;
  /** Part of `timeoutMs` that the call may take, from 0 to 1. Default: 1. */
  readonly timeoutShare?: number;
  /** Whether to run the call even if too many are running. Default: false. */
  readonly ignoresLimit?: boolean;
}

export type OperationRunner = ReturnType<typeof createOperationRunner>;

export interface OperationLimits {
  readonly label: DatabaseLabel;
  /** Timeout of every operation, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of operations that do not wait for a connection. */
  readonly maxPoolSize: number;
  /** Called with each error of a command. */
  readonly onError: (error: unknown) => void;
}

/** Maximum number of operations that wait for a connection. */
const MAX_WAITING = 1024;

/**
 * Creates a runner that limits the duration and the number of operations. Only the deadline aborts a command that was sent,
 * because that closes its connection: callers that abort often would make the pool reconnect all the time. A caller's abort rejects
 * the call, and aborts it only if no command was sent.
 */
export function createOperationRunner({ label, timeoutMs, maxPoolSize, onError }: OperationLimits) {
  let active = 0;
  let isClosed = false;
  let onIdle: (() => void) | undefined;
  let responseWaiter: PromiseWithResolvers<void> | undefined;

  function startOperation<T>(
    work: Work<T>,
    limitMs: number,
    caller: AbortSignal | undefined,
    { resolve, reject }: Settle<T>,
  ): void {
    const operation = new StoreOperation();
    active++;
    const timer = setTimeout(() => {
      const code = operation.writeOutcome === 'not-stored' ? 'unavailable' : 'outcome-unknown';
      const error = storeError(code, label, `it did not respond within ${limitMs} ms`);
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
        onError(error);
        reject(toStoreError(error, label, operation.writeOutcome));
      },
    );
  }

  return {
    /** Runs a call of the port. @throws {StoreError} if it fails, exceeds its timeout, or too many calls are running */
    run: <T>(work: Work<T>, { signal, timeoutShare = 1, ignoresLimit = false }: OperationOptions = {}) =>
      new Promise<T>((resolve, reject) => {
        signal?.throwIfAborted();
        if (isClosed) throw storeError('closed', label);
        if (active >= maxPoolSize + MAX_WAITING && !ignoresLimit) {
          throw storeError('unavailable', label, `${MAX_WAITING} operations are already waiting for it`);
        }
        startOperation(work, timeoutMs * timeoutShare, signal, { resolve, reject });
      }),
    /** Runs an internal operation of the store. It is always accepted, even while the store closes. */
    runInternal: <T>(work: Work<T>) =>
      new Promise<T>((resolve, reject) => startOperation(work, timeoutMs, undefined, { resolve, reject })),
    /** Resolves with the next successful response of the database. One waiter at a time: a later call replaces it. */
    nextResponse(): Promise<void> {
      responseWaiter = Promise.withResolvers();
      return responseWaiter.promise;
    },
    /** Rejects new calls, and resolves when the accepted ones have settled. */
    async close(): Promise<void> {
      isClosed = true;
      if (active > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
    },
  };
}
