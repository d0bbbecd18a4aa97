// Hot path: tRPC's own producers pull each piece through eight streams and generators, 20 µs an event, 190 µs a call.
import { nextTurn, type Timer } from './eventLoop.ts';
import type { BodyStream } from './response.ts';
import { utf8Bytes } from './utf8.ts';

export interface TextStreamOptions {
  /** Without text for so many milliseconds, the stream pings. `undefined`: never. */
  readonly pingMs: number | undefined;
  /** Watches the stream's credential while it is sent. @returns ends the watch */
  readonly watch: (onRevoked: () => void) => () => void;
}

/** A body of text that comes in time: what is at hand goes out together, and more is produced once that is taken. */
export abstract class TextStream implements BodyStream {
  /** What is sent next. */
  protected text = '';
  /** Nothing follows `text`. */
  protected isLast = false;
  protected hasEnded = false;
  readonly #options: TextStreamOptions;
  readonly #pingText: string;
  #ping: Timer | undefined;
  #endWatch = () => {};
  #failure: { readonly cause: unknown } | undefined;
  /** The adapter's pending `next`. */
  #pull: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  #isSending = false;

  protected constructor(pingText: string, options: TextStreamOptions) {
    this.#pingText = pingText;
    this.#options = options;
  }

  /** The network has taken what was sent: more can be produced. */
  protected abstract onPull(): void;

  /** The stream is over. @param isCut before all was sent */
  protected abstract onEnd(isCut: boolean): void;

  /** Whether the network takes more. */
  protected get isPulled(): boolean {
    return this.#pull !== undefined;
  }

  /** Ends the stream at once. What was not sent yet is dropped. */
  cut(): void {
    if (this.hasEnded) return;
    this.#finish(true);
    this.#pull?.resolve({ done: true, value: undefined });
    this.#pull = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (!this.hasEnded) this.#endWatch = this.#options.watch(() => this.cut());
    return {
      next: () => {
        this.#pull = Promise.withResolvers();
        const { promise } = this.#pull;
        this.onPull();
        this.sendSoon();
        return promise;
      },
      return: async () => {
        this.cut();
        return { done: true, value: undefined };
      },
    };
  }

  /** All of the text, where nothing is missing: it needs no stream, which is over then. */
  protected takeWhole(): string | undefined {
    if (!this.isLast || this.hasEnded || this.#failure) return undefined;
    this.hasEnded = true;
    return this.text;
  }

  /** Fails behind `text`: the connection is cut then. */
  protected fail(cause: unknown): void {
    this.#failure ??= { cause };
    this.isLast = true;
    this.sendSoon();
  }

  /** Sends what is at hand in the next turn: a producer that always has more must not block the event loop. */
  protected sendSoon(): void {
    if (this.#pull === undefined || this.#isSending) return;
    if (this.text === '' && !this.isLast && !this.hasEnded) {
      const { pingMs } = this.#options;
      if (pingMs !== undefined) this.#ping ??= setTimeout(() => this.send(this.#pingText), pingMs);
      return;
    }
    this.#isSending = true;
    // Now: a ping in the same turn would be sent in place of the text.
    this.#endPing();
    nextTurn(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isSending = false;
    const pull = this.#pull;
    if (pull === undefined) return;
    if (this.text !== '') return this.send(this.text);
    this.#pull = undefined;
    if (!this.hasEnded) this.#finish(false);
    // In a later turn than the last text, which uWebSockets.js 20 would lose with the connection that is cut.
    if (this.#failure) pull.reject(this.#failure.cause);
    else pull.resolve({ done: true, value: undefined });
  };

  protected send(text: string): void {
    this.#endPing();
    this.text = '';
    this.#pull?.resolve({ done: false, value: utf8Bytes(text) });
    this.#pull = undefined;
  }

  #endPing(): void {
    clearTimeout(this.#ping);
    this.#ping = undefined;
  }

  #finish(isCut: boolean): void {
    this.hasEnded = true;
    this.text = '';
    this.#endPing();
    this.#endWatch();
    this.onEnd(isCut);
  }
}
