// Hot path: tRPC pulls each piece through eight streams and generators: 20 µs per event, 190 µs per call.
import { nextTurn, type Timer } from './eventLoop.ts';
import { type BodyStream, utf8Bytes } from './response.ts';

export interface TextStreamOptions {
  /** The stream sends a ping after so many milliseconds without text. `undefined`: never. */
  readonly pingMs: number | undefined;
  /** Watches the request's credential while the stream is sent. @returns a function that ends the watch */
  readonly watch: (onRevoked: () => void) => () => void;
}

/** A text body that is produced over time. Available text is sent together; more is produced after the network took it. */
export abstract class TextStream implements BodyStream {
  /** Text that is sent next. */
  protected text = '';
  /** Whether `text` is the last text of the stream, or the stream has ended. */
  protected isLast = false;
  #hasEnded = false;
  readonly #options: TextStreamOptions;
  readonly #pingText: string;
  #ping: Timer | undefined;
  #endWatch = () => {};
  /** Error with which the stream ends after `text`. */
  #finalError: { readonly cause: unknown } | undefined;
  /** The adapter's pending `next`, if the network can take more text. */
  #pull: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  /** Whether `text` is sent in the next turn of the event loop. */
  protected isSending = false;

  protected constructor(pingText: string, options: TextStreamOptions) {
    this.#pingText = pingText;
    this.#options = options;
  }

  /** Whether the network can take more text. */
  protected get isPulled(): boolean {
    return this.#pull !== undefined;
  }

  /** Called when the network has taken the sent text, to produce more; not after the last text. */
  protected abstract onPull(): void;

  /** Called once when the stream ends. `isCut`: before all text was sent. */
  protected abstract onEnd(isCut: boolean): void;

  /** Called when the credential of the request is no longer valid. */
  protected onRevoked(): void {
    this.cut();
  }

  /** Ends the stream at once. Text that was not sent is dropped. */
  cut(): void {
    if (this.#hasEnded) return;
    this.#finish(true);
    this.#pull?.resolve({ done: true, value: undefined });
    this.#pull = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (!this.#hasEnded) this.#endWatch = this.#options.watch(() => this.onRevoked());
    return {
      next: () => {
        this.#pull = Promise.withResolvers();
        const { promise } = this.#pull;
        if (!this.isLast) this.onPull();
        this.sendSoon();
        return promise;
      },
      return: async () => {
        this.cut();
        return { done: true, value: undefined };
      },
    };
  }

  /** Ends the stream and returns its text if all is available; otherwise `undefined`: the text must be streamed. */
  protected takeWhole(): string | undefined {
    if (!this.isLast || this.#hasEnded || this.#finalError) return undefined;
    this.#hasEnded = true;
    return this.text;
  }

  /** Ends the stream with an error after `text`, so that the adapter cuts the connection. */
  protected cutAfterText(cause: unknown): void {
    this.#finalError ??= { cause };
    this.isLast = true;
    this.sendSoon();
  }

  /** Sends the available text in the next turn of the event loop, so that a producer that always has more cannot block it. */
  protected sendSoon(): void {
    if (this.#pull === undefined || this.isSending) return;
    if (this.text === '' && !this.isLast) {
      const { pingMs } = this.#options;
      if (pingMs !== undefined) this.#ping ??= setTimeout(() => this.send(this.#pingText), pingMs);
      return;
    }
    this.isSending = true;
    // Cleared here: a ping in this turn would be sent instead of the text.
    if (this.#ping !== undefined) this.#endPing();
    nextTurn(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.isSending = false;
    const pull = this.#pull;
    if (pull === undefined) return;
    if (this.text !== '') return this.send(this.text);
    this.#pull = undefined;
    if (!this.#hasEnded) this.#finish(false);
    // In a later turn than the last text: uWebSockets.js 20 would drop that text when the connection is cut.
    if (this.#finalError) pull.reject(this.#finalError.cause);
    else pull.resolve({ done: true, value: undefined });
  };

  protected send(text: string): void {
    if (this.#ping !== undefined) this.#endPing();
    this.text = '';
    this.#pull?.resolve({ done: false, value: utf8Bytes(text) });
    this.#pull = undefined;
  }

  #endPing(): void {
    clearTimeout(this.#ping);
    this.#ping = undefined;
  }

  #finish(isCut: boolean): void {
    this.#hasEnded = true;
    this.isLast = true;
    this.text = '';
    if (this.#ping !== undefined) this.#endPing();
    this.#endWatch();
    this.onEnd(isCut);
  }
}
