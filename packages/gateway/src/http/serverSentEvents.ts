// Hot path: tRPC's own producer takes 20 µs an event, this 1 (`npm run bench`, case events).
import { isObject } from './isObject.ts';
import type { BodyStream } from './response.ts';

/** How a protocol writes its events. */
export interface EventFormat {
  /** Comes before all events; may be empty. */
  readonly start: string;
  /** Comes after the last event. */
  readonly end: string;
  /** Keeps a quiet stream alive. */
  readonly ping: string;
  /** Writes a value of the iterator. What it throws or rejects with ends the stream, as an error of the iterator does. */
  event(value: unknown): string | Promise<string>;
  /** Reports an error, and writes the event that ends the stream. The connection is cut if it throws. */
  error(cause: unknown): string;
}

/** In milliseconds; `undefined`: never. */
export interface EventStreamTimes {
  /** Without an event for so long, the stream pings. */
  readonly pingMs: number | undefined;
  /** The stream ends then. Its client reconnects, and continues after the last event that it received. */
  readonly maxDurationMs: number | undefined;
}

export interface EventStreamOptions extends EventStreamTimes {
  /** Watches the stream's credential while it is sent. @returns ends the watch */
  readonly watch: (onRevoked: () => void) => () => void;
  /** Aborts the subscription: called when the stream ends before its iterator does. */
  readonly abort: () => void;
}

/** How much of what is at hand is written at once: the size of uWebSockets.js's own buffer. */
const largeLength = 16_384;

/**
 * Values of an async iterable as server-sent events. Those at hand go out together. Once they have `largeLength`, no
 * value is requested before the network has taken them; one is requested at a time.
 */
export class ServerSentEvents implements BodyStream {
  readonly #format: EventFormat;
  readonly #options: EventStreamOptions;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #lifetime: NodeJS.Timeout | undefined;
  #ping: NodeJS.Timeout | undefined;
  #endWatch = () => {};
  /** What is to be sent next. */
  #text: string;
  #failure: { readonly cause: unknown } | undefined;
  /** The adapter's pending `next`. */
  #pull: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  /** A value is requested, or is being written. */
  #isPending = false;
  #isFlushing = false;
  /** No event follows. */
  #isLast = false;
  #isOver = false;

  constructor(events: AsyncIterable<unknown>, format: EventFormat, options: EventStreamOptions) {
    const { maxDurationMs } = options;
    this.#format = format;
    this.#options = options;
    this.#iterator = iteratorOf(events);
    this.#text = format.start;
    if (maxDurationMs) this.#lifetime = setTimeout(() => this.end(), maxDurationMs).unref();
  }

  /** Ends the stream between two events. What was not sent yet is dropped. */
  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#options.abort();
    this.#returnIterator();
    this.#pull?.resolve({ done: true, value: undefined });
    this.#pull = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (!this.#isOver) this.#endWatch = this.#options.watch(() => this.end());
    return {
      next: () => {
        this.#pull = Promise.withResolvers();
        const { promise } = this.#pull;
        this.#request();
        this.#flushSoon();
        return promise;
      },
      return: async () => {
        this.end();
        return { done: true, value: undefined };
      },
    };
  }

  #request(): void {
    if (this.#isPending || this.#isLast || this.#isOver) return;
    this.#isPending = true;
    try {
      // An iterator written by hand may return no promise.
      Promise.resolve(this.#iterator.next()).then(this.#take, this.#fail);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  // Bound once: a stream has many events. An exception would be an unhandled rejection, which ends the process.
  readonly #take = (result: IteratorResult<unknown>): void => {
    if (this.#isOver) return;
    if (!isObject(result)) return this.#fail(new TypeError('The iterator returned no result object.'));
    this.#isLast = result.done === true;
    try {
      const text = result.done ? this.#format.end : this.#format.event(result.value);
      if (typeof text === 'string') this.#add(text);
      else text.then(this.#add, this.#reject);
    } catch (cause) {
      this.#reject(cause);
    }
  };

  readonly #add = (text: string): void => {
    this.#isPending = false;
    if (this.#isOver) return;
    this.#text += text;
    if (this.#pull && this.#text.length < largeLength) this.#request();
    this.#flushSoon();
  };

  /** Ends the stream, and its iterator, with the error of a value. */
  readonly #reject = (cause: unknown): void => {
    if (!this.#isOver) this.#returnIterator();
    this.#fail(cause);
  };

  /** Ends the stream with the error of its iterator. */
  readonly #fail = (cause: unknown): void => {
    if (this.#isOver) return;
    this.#isLast = true;
    try {
      this.#add(this.#format.error(cause));
    } catch (failure) {
      this.#failure = { cause: failure };
      this.#flushSoon();
    }
  };

  /** Sends what is at hand in the next turn: a producer that always has more must not block the event loop. */
  #flushSoon(): void {
    if (this.#pull === undefined || this.#isFlushing) return;
    if (this.#text === '' && !this.#isLast && !this.#isOver) {
      const { pingMs } = this.#options;
      if (pingMs !== undefined) this.#ping ??= setTimeout(() => this.#send(this.#format.ping), pingMs);
      return;
    }
    this.#isFlushing = true;
    // Now: a ping in the same turn would be sent in place of the text.
    this.#endPing();
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushing = false;
    const pull = this.#pull;
    if (pull === undefined) return;
    if (this.#text !== '') return this.#send(this.#text);
    this.#pull = undefined;
    if (!this.#isOver) this.#finish();
    // In a later turn than the last text, which uWebSockets.js 20 would lose with the connection that is cut.
    if (this.#failure) pull.reject(this.#failure.cause);
    else pull.resolve({ done: true, value: undefined });
  };

  #send(text: string): void {
    this.#endPing();
    this.#text = '';
    this.#pull?.resolve({ done: false, value: Buffer.from(text) });
    this.#pull = undefined;
  }

  #endPing(): void {
    clearTimeout(this.#ping);
    this.#ping = undefined;
  }

  #finish(): void {
    this.#isOver = true;
    this.#text = '';
    clearTimeout(this.#lifetime);
    this.#endPing();
    this.#endWatch();
  }

  /** Not awaited: an iterator that ignores its signal may never return. Its errors have no receiver. */
  #returnIterator(): void {
    (async () => this.#iterator.return?.())().catch(() => {});
  }
}

/** An iterable that throws becomes an iterator that does: its error is reported as any other. */
function iteratorOf(events: AsyncIterable<unknown>): AsyncIterator<unknown> {
  try {
    return events[Symbol.asyncIterator]();
  } catch (cause) {
    const next = async () => {
      throw cause;
    };
    return { next };
  }
}
