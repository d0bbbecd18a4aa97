// Hot path: tRPC's producer pulls each event through eight streams and generators, 20 µs (`npm run bench`, case events).
import { isTrackedEnvelope } from '@trpc/server';
import { boundedJson } from '../../policies/responseBytes.ts';
import type { BodyStream } from '../../http/response.ts';
import { isObject } from '../../http/isObject.ts';

export interface ServerSentEventsOptions {
  /** What data is before it is written as JSON: the transformer's. */
  readonly serialize: (data: unknown) => unknown;
  /** What the client is told of itself, as JSON. */
  readonly client: string;
  /** How often a quiet stream says that it lives, in milliseconds; `undefined`: never. */
  readonly pingMs: number | undefined;
  /** How long it lasts at most, in milliseconds. */
  readonly maxDurationMs: number | undefined;
  /** The largest event; in place of a larger one the stream ends with an error. */
  readonly maxEventBytes: number;
  /** The event that the client had last, before it connected anew. */
  readonly lastEventId: string | null;
  /** Told of what the events fail with; gives the error as clients see it. The stream fails if it throws. */
  readonly fail: (cause: unknown) => unknown;
  /** Watches, while it is sent, whether it still may be. */
  readonly watch: (onRevoked: () => void) => () => void;
  /** Called when nobody takes any more of it. */
  readonly abort: () => void;
}

/**
 * A subscription's events, written as `sseStreamProducer` (@trpc/server 11.25) writes them. Those that are at hand go
 * out together; beyond `largeLength` none is asked for before the network has taken the last, nor is more than one.
 */
export class ServerSentEvents implements BodyStream {
  readonly #options: ServerSentEventsOptions;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #lifetime: NodeJS.Timeout | undefined;
  #lastEventId: string | null;
  /** What is to be sent. */
  #text: string;
  #isAsking = false;
  /** No event comes any more. */
  #isLast = false;
  #isOver = false;
  #failure: { readonly cause: unknown } | undefined;
  #endWatch = () => {};
  /** Who waits for the next events. */
  #waiting: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  #isWaking = false;
  #ping: NodeJS.Timeout | undefined;

  constructor(events: AsyncIterable<unknown>, options: ServerSentEventsOptions) {
    const { client, lastEventId, maxDurationMs } = options;
    this.#options = options;
    this.#iterator = iteratorOf(events);
    this.#lastEventId = lastEventId && !/[\0\n\r]/.test(lastEventId) ? lastEventId : null;
    this.#text = `event: connected\ndata: ${client}\n\n\n`;
    if (maxDurationMs) this.#lifetime = setTimeout(() => this.cut(), maxDurationMs).unref();
  }

  /** Ends it after the event that was given last. */
  end(): void {
    this.cut();
  }

  /** Ends it, whatever is left of it. */
  cut(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#text = '';
    this.#options.abort();
    this.#return();
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (!this.#isOver) this.#endWatch = this.#options.watch(() => this.cut());
    return {
      next: () => {
        this.#waiting = Promise.withResolvers();
        const { promise } = this.#waiting;
        this.#ask();
        this.#wake();
        return promise;
      },
      return: async () => {
        this.cut();
        return { done: true, value: undefined };
      },
    };
  }

  #ask(): void {
    if (this.#isAsking || this.#isLast || this.#isOver) return;
    this.#isAsking = true;
    try {
      // Who writes iterators by hand may give no promise.
      Promise.resolve(this.#iterator.next()).then(this.#take, this.#fail);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  // Made once: a stream has many events.
  readonly #take = (result: IteratorResult<unknown>): void => {
    this.#isAsking = false;
    if (this.#isOver) return;
    // Nobody hears of what is thrown here: it would end the process.
    if (!isObject(result)) return this.#fail(new TypeError('The iterator gave no result.'));
    const { done, value } = result;
    if (done) {
      this.#isLast = true;
      this.#text += 'event: return\ndata: \n\n\n';
    } else {
      try {
        this.#text += this.#event(value);
      } catch (cause) {
        this.#return();
        return this.#fail(cause);
      }
      if (this.#waiting && this.#text.length < largeLength) this.#ask();
    }
    this.#wake();
  };

  #event(value: unknown): string {
    const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
    const { maxEventBytes, serialize } = this.#options;
    const json = boundedJson(serialize(data), maxEventBytes);
    if (id !== undefined) {
      this.#lastEventId = id;
      return `data: ${json}\nid: ${id}\n\n\n`;
    }
    const last = this.#lastEventId;
    if (last === null) return `data: ${json}\n\n\n`;
    return `data: ${json}\nid: \n\n\nevent: restore-id\ndata: \nid: ${last}\n\n\n`;
  }

  readonly #fail = (cause: unknown): void => {
    this.#isAsking = false;
    this.#isLast = true;
    try {
      if (!isObject(cause) || cause['name'] !== 'AbortError') {
        const error = this.#options.serialize(this.#options.fail(cause) ?? null);
        this.#text += `event: serialized-error\ndata: ${JSON.stringify(error)}\n\n\n`;
      }
    } catch (failure) {
      this.#failure = { cause: failure };
    }
    this.#wake();
  };

  /** Gives out what is there by the end of the turn. */
  #wake(): void {
    if (this.#waiting === undefined || this.#isWaking) return;
    if (this.#text === '' && !this.#isLast && !this.#isOver) {
      const { pingMs } = this.#options;
      if (pingMs !== undefined)
        this.#ping ??= setTimeout(() => this.#give('event: ping\ndata: \n\n\n'), pingMs);
      return;
    }
    this.#isWaking = true;
    // Now: what is large is given later, and a ping meanwhile would be given in its place.
    this.#endPing();
    process.nextTick(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    // Who has always more to say, and a client that takes it, would hold the process.
    if (this.#text.length >= largeLength) setImmediate(this.#flush);
    else this.#flush();
  };

  readonly #flush = (): void => {
    this.#isWaking = false;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    if (this.#text !== '') return this.#give(this.#text);
    this.#waiting = undefined;
    this.#finish();
    // Not in the turn of what was given last: who cuts the connection then, cuts that off too (uWebSockets.js 20).
    if (this.#failure) setImmediate(waiting.reject, this.#failure.cause);
    else waiting.resolve({ done: true, value: undefined });
  };

  #give(text: string): void {
    this.#endPing();
    this.#text = '';
    this.#waiting?.resolve({ done: false, value: Buffer.from(text) });
    this.#waiting = undefined;
  }

  #endPing(): void {
    clearTimeout(this.#ping);
    this.#ping = undefined;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#lifetime);
    this.#endPing();
    this.#endWatch();
  }

  /** How it ends is not waited for, and what it fails with is nobody's concern. */
  #return(): void {
    (async () => this.#iterator.return?.())().catch(() => {});
  }
}

/** One that cannot be had fails when it is asked: its client is told as of any failure. */
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

/** How much is written at once of what is at hand: the size of uWebSockets.js's own buffer. */
const largeLength = 16_384;
