// Hot path: 1 µs an event (`npm run bench`, case events).
import { unref, type Timer } from './eventLoop.ts';
import { isObject } from './isObject.ts';
import { TextStream, type TextStreamOptions } from './textStream.ts';

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

export interface EventStreamOptions extends EventStreamTimes, TextStreamOptions {
  /** Aborts the subscription: called when the stream ends before its iterator does. */
  readonly abort: () => void;
}

/** How much of what is at hand is written at once: the size of uWebSockets.js's own buffer. */
const largeLength = 16_384;

/**
 * Values of an async iterable as server-sent events. Those at hand go out together. Once they have `largeLength`, no
 * value is requested before the network has taken them; one is requested at a time.
 */
export class ServerSentEvents extends TextStream {
  readonly #format: EventFormat;
  readonly #abort: () => void;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #lifetime: Timer | undefined;
  /** A value is requested, or is being written. */
  #isPending = false;

  constructor(events: AsyncIterable<unknown>, format: EventFormat, options: EventStreamOptions) {
    super(format.ping, options);
    const { abort, maxDurationMs } = options;
    this.#format = format;
    this.#abort = abort;
    this.#iterator = iteratorOf(events);
    this.text = format.start;
    if (maxDurationMs) this.#lifetime = unref(setTimeout(() => this.cut(), maxDurationMs));
  }

  end(): void {
    this.cut();
  }

  protected override onPull(): void {
    if (this.#isPending || this.isLast || this.hasEnded) return;
    this.#isPending = true;
    try {
      // An iterator written by hand may return no promise.
      Promise.resolve(this.#iterator.next()).then(this.#take, this.#endWith);
    } catch (cause) {
      this.#endWith(cause);
    }
  }

  protected override onEnd(isCut: boolean): void {
    clearTimeout(this.#lifetime);
    if (!isCut) return;
    this.#abort();
    this.#returnIterator();
  }

  // Bound once: a stream has many events. An exception would be an unhandled rejection, which ends the process.
  readonly #take = (result: IteratorResult<unknown>): void => {
    if (this.hasEnded) return;
    if (!isObject(result)) return this.#endWith(new TypeError('The iterator returned no result object.'));
    this.isLast = result.done === true;
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
    if (this.hasEnded) return;
    this.text += text;
    if (this.isPulled && this.text.length < largeLength) this.onPull();
    this.sendSoon();
  };

  /** Ends the stream and its iterator, which gave a value that cannot be written. */
  readonly #reject = (cause: unknown): void => {
    if (this.hasEnded) return;
    this.#returnIterator();
    this.#endWith(cause);
  };

  readonly #endWith = (cause: unknown): void => {
    if (this.hasEnded) return;
    this.isLast = true;
    try {
      this.#add(this.#format.error(cause));
    } catch (failure) {
      this.fail(failure);
    }
  };

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
