// Hot path: 1 µs per event (`npm run bench`, case events).
import { unref, type Timer } from './eventLoop.ts';
import { TextStream, type TextStreamOptions } from './textStream.ts';

/** Wire format of the events of a protocol. */
export interface EventFormat {
  /** Text before the first event; may be empty. */
  readonly start: string;
  /** Text after the last event. */
  readonly end: string;
  /** Text that keeps an idle stream alive. */
  readonly ping: string;
  /** Formats a value of the iterator. If it throws or rejects, the stream ends as for an error of the iterator. */
  event(value: unknown): string | Promise<string>;
  /** Reports an error and formats the event that ends the stream. If it throws, the connection is cut. */
  error(cause: unknown): string;
  /**
   * Reports that the credential of the stream is no longer valid, and formats the event that ends it. Default: the
   * stream ends without an event.
   */
  readonly revoked?: () => string;
}

/** Times of an event stream in milliseconds; `undefined`: never. */
export interface EventStreamTimes {
  /** The stream sends a ping after this time without an event. */
  readonly pingMs: number | undefined;
  /** The stream ends after this time. The client reconnects and continues after the last event that it received. */
  readonly maxDurationMs: number | undefined;
}

export interface EventStreamOptions extends EventStreamTimes, TextStreamOptions {
  /** Aborts the subscription. Called if the stream ends before its iterator. */
  readonly abort: () => void;
}

/**
 * Size of the pending text, in characters, from which on it is sent before more is produced: the size of
 * uWebSockets.js's own buffer.
 */
const fullTextLength = 16_384;

/**
 * Writes the values of an async iterable as server-sent events. Events that are available at the same time are sent
 * together. From `fullTextLength` on, no value is requested until the network has taken the text (backpressure). Values
 * are requested one at a time.
 */
export class ServerSentEvents extends TextStream {
  readonly #format: EventFormat;
  readonly #abort: () => void;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #lifetime: Timer | undefined;
  /** Whether a value was requested and is not formatted yet. */
  #isPending = false;
  #isRevoked = false;

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

  /** Whether no more values are sent. */
  get #isOver(): boolean {
    return this.hasEnded || this.#isRevoked;
  }

  protected override onPull(): void {
    if (this.#isPending || this.isLast || this.hasEnded) return;
    this.#isPending = true;
    try {
      // A hand-written iterator may return a value that is not a promise.
      Promise.resolve(this.#iterator.next()).then(this.#take, this.#endWith);
    } catch (cause) {
      this.#endWith(cause);
    }
  }

  protected override onRevoked(): void {
    if (this.hasEnded || this.isLast || !this.#format.revoked) return this.cut();
    this.#isRevoked = true;
    this.isLast = true;
    this.#abort();
    this.#returnIterator();
    try {
      this.text += this.#format.revoked();
      this.sendSoon();
    } catch (formatError) {
      this.cutAfterText(formatError);
    }
  }

  protected override onEnd(isCut: boolean): void {
    clearTimeout(this.#lifetime);
    if (!isCut) return;
    this.#abort();
    this.#returnIterator();
  }

  // An arrow function, bound once for all events. It must not throw: that would be an unhandled rejection, which ends
  // the process.
  readonly #take = (result: IteratorResult<unknown>): void => {
    if (this.#isOver) return;
    if (typeof result !== 'object' || result === null)
      return this.#endWith(
        new TypeError("The subscription's iterator returned a value from next() that is not an object."),
      );
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
    if (this.#isOver) return;
    this.text += text;
    if (this.pull !== undefined && this.text.length < fullTextLength) this.onPull();
    if (!this.isSending) this.sendSoon();
  };

  /** Ends the stream and its iterator after a value that cannot be formatted. */
  readonly #reject = (cause: unknown): void => {
    if (this.#isOver) return;
    this.#returnIterator();
    this.#endWith(cause);
  };

  readonly #endWith = (cause: unknown): void => {
    if (this.#isOver) return;
    this.isLast = true;
    try {
      this.#add(this.#format.error(cause));
    } catch (formatError) {
      this.cutAfterText(formatError);
    }
  };

  /** Ends the iterator. Not awaited: an iterator that ignores its signal may never return. Its errors are ignored. */
  #returnIterator(): void {
    (async () => this.#iterator.return?.())().catch(() => {});
  }
}

/** Returns the iterator. If the iterable throws, the first `next` of the returned iterator rejects with that error. */
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
