import type { BodyStream } from './response.ts';

const newline = 10;

/**
 * A body of events: it is given out an event at a time, and can be ended between two. tRPC writes server-sent events
 * in pieces, each of which would be a write of its own.
 */
export class EventBody implements BodyStream {
  /** Of events alone: lines are answers, which come to an end, and their clients wait for it. */
  readonly end?: () => void;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #isWhole: (chunk: Uint8Array) => boolean;
  readonly #watch: (onRevoked: () => void) => () => void;
  #over = () => {};

  /**
   * @param format `sse`: an event ends with an empty line. `jsonl`: tRPC writes whole lines, and blanks between them
   * @param watch watches, while it is sent, whether it still may be
   */
  constructor(
    stream: ReadableStream<Uint8Array>,
    format: 'sse' | 'jsonl',
    watch: (onRevoked: () => void) => () => void,
  ) {
    this.#reader = stream.getReader();
    this.#isWhole = format === 'sse' ? endsWithEmptyLine : () => true;
    this.#watch = watch;
    if (format === 'sse') this.end = () => this.cut();
  }

  /** Ends it, whatever is left of it. */
  cut(): void {
    this.#over();
    // What is pending ends with it, and the producer's signal is aborted: how it ends is not waited for, and what it
    // fails with, it has logged.
    this.#reader.cancel().catch(() => {});
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const endWatch = this.#watch(() => this.cut());
    this.#over = () => {
      this.#over = () => {};
      endWatch();
    };
    return {
      next: () => this.#next(),
      return: async (value) => {
        this.cut();
        return { done: true, value };
      },
    };
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const pieces: Uint8Array[] = [];
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) {
          // Of an event that was cut nothing goes out.
          this.#over();
          return { done, value };
        }
        pieces.push(value);
        if (this.#isWhole(value)) {
          return { done, value: pieces.length === 1 ? value : Buffer.concat(pieces) };
        }
      }
    } catch (error) {
      this.#over();
      throw error;
    }
  }
}

const endsWithEmptyLine = (chunk: Uint8Array) => chunk.at(-1) === newline && chunk.at(-2) === newline;
