// Hot path: 1 µs per event (`npm run bench`, case events).
import { discardOutput } from './asyncValues.ts';
import { nextTurn, unref, type Timer } from './eventLoop.ts';
import { TextStream, type TextStreamOptions } from './textStream.ts';

/** Wire format of the events of a protocol. */
export interface EventFormat {
  /** Text before the first event; may be empty. */
  readonly start: string;
  /** Text after the last event. */
  readonly end: string;
  readonly ping: string;
  /** Formats a value of the iterator; may be empty. If it throws or rejects, the stream ends as for an error of the iterator. */
  event(value: unknown): string | Promise<string>;
  /** Reports an error and formats the event that ends the stream. If it throws, the connection is cut. */
  error(cause: unknown): string;
  /** Reports that the credential is no longer valid, and formats the last event. Default: the stream ends without one. */
  readonly revoked?: () => string;
  /**
   * Reports that the server stops before the stream is complete, and formats the event that ends it. Such a stream is not
   * ended before the deadline of the stop. Default: the stream ends after the current event, as its client continues it.
   */
  readonly expired?: () => string;
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

/** Characters of pending text that are sent before more is produced: the size of uWebSockets.js's own buffer. */
const fullTextLength = 16_384;

/** Number of events without text after which the event loop takes a turn: they never fill the pending text. */
const maxSilentEvents = 100;

/**
 * Writes an async iterator's values as server-sent events. What is available at once is sent together. From
 * `fullTextLength` on, no value is requested until the network has taken the text. Values are requested one at a time.
 */
export class ServerSentEvents extends TextStream {
  readonly #format: EventFormat;
  readonly #abort: () => void;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #lifetime: Timer | undefined;
  /** Whether a value was requested and is not formatted yet. */
  #isPending = false;
  /** Whether the last result of the iterator is being formatted: an error is then one of the format. */
  #isFormatting = false;
  #isDone = false;

  constructor(iterator: AsyncIterator<unknown>, format: EventFormat, options: EventStreamOptions) {
    super(format.ping, options);
    const { abort, maxDurationMs } = options;
    this.#format = format;
    this.#abort = abort;
    this.#iterator = iterator;
    this.text = format.start;
    if (maxDurationMs) this.#lifetime = unref(setTimeout(() => this.cut(), maxDurationMs));
  }

  end(): void {
    if (!this.#format.expired) this.cut();
  }

  expire(): void {
    const { expired } = this.#format;
    if (!this.isLast && expired) this.#endEarly(expired);
  }

  protected override onPull(): void {
    if (!this.#isPending) void this.#addEvents();
  }

  protected override onRevoked(): void {
    const { revoked } = this.#format;
    if (this.isLast || !revoked) return this.cut();
    this.#endEarly(revoked);
  }

  protected override onEnd(isCut: boolean): void {
    clearTimeout(this.#lifetime);
    if (!isCut) return;
    this.#abort();
    this.#returnIterator();
  }

  /** Adds events until the stream ends or enough text is pending. It never rejects: that would end the process. */
  async #addEvents(): Promise<void> {
    this.#isPending = true;
    let silentEvents = 0;
    try {
      while (!this.isLast && this.isPulled && this.text.length < fullTextLength) {
        this.#isFormatting = false;
        // In a variable, the event would stay in memory until the next one.
        const text = this.#textOf(await this.#iterator.next());
        if (text === undefined) return;
        const added = typeof text === 'string' ? text : await text;
        if (this.isLast) return;
        this.text += added;
        this.isLast = this.#isDone;
        if (!this.isSending) this.sendSoon();
        if (added === '' && (silentEvents += 1) % maxSilentEvents === 0) {
          await new Promise<void>((resolve) => nextTurn(resolve));
        }
      }
      this.#isPending = false;
    } catch (cause) {
      if (this.isLast) return;
      if (this.#isFormatting) this.#returnIterator();
      this.#endWith(() => this.#format.error(cause));
    }
  }

  /** Ends the subscription, and the stream with a last event. */
  #endEarly(lastEvent: () => string): void {
    this.#abort();
    this.#returnIterator();
    this.#endWith(lastEvent);
  }

  /** Formats a result of the iterator. Returns `undefined` if the stream has ended meanwhile. */
  #textOf(result: IteratorResult<unknown> | null): string | Promise<string> | undefined {
    if (this.isLast) {
      discardOutput(result?.value);
      return undefined;
    }
    if (typeof result !== 'object' || result === null)
      throw new TypeError("next() of the subscription's iterator returned no object.");
    this.#isFormatting = true;
    this.#isDone = Boolean(result.done);
    return this.#isDone ? this.#format.end : this.#format.event(result.value);
  }

  #endWith(lastEvent: () => string): void {
    this.isLast = true;
    try {
      this.text += lastEvent();
      this.sendSoon();
    } catch (cause) {
      this.cutAfterText(cause);
    }
  }

  /** Ends the iterator. Not awaited: an iterator that ignores its signal may never return. Its errors are ignored. */
  #returnIterator(): void {
    (async () => this.#iterator.return?.())().catch(() => {});
  }
}
