// Hot path: tRPC's producer pulls each line through eight streams and generators, 190 µs a call (`npm run bench`, case
// lines).
import { LimitError } from '../../procedures/limitError.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { BodyStream } from '../../http/response.ts';
import { isAllHere, isPlainObject, isPromise } from './lineValues.ts';

export interface JsonLinesOptions {
  /** What a line is before it is written as JSON: the transformer's. `undefined`: itself. */
  readonly serialize: ((chunk: unknown) => unknown) | undefined;
  /** How often a quiet stream says that it lives, in milliseconds; `undefined`: never. */
  readonly pingMs: number | undefined;
  /** The largest line; in place of a larger one comes the error of its call. */
  readonly maxLineBytes: number;
  /** Told of what fails on the way, of which call; gives the error as clients see it. The stream fails if it throws. */
  readonly fail: (cause: unknown, call: number) => unknown;
  /** Watches, while it is sent, whether it still may be. */
  readonly watch: (onRevoked: () => void) => () => void;
  /** Called when nobody takes any more of it. */
  readonly abort: () => void;
}

/** What a line holds of a call at once, or what comes in a line of its own. */
export type LineOutcome =
  | { readonly error: unknown }
  | { readonly data: unknown }
  | { readonly events: AsyncIterable<unknown> };

/** A line, before it is written or as it is, or what happens once the line before it is taken. */
type Entry = string | readonly unknown[] | Readonly<Record<string, unknown>> | (() => void);

type Iterator = AsyncIterator<unknown> & Partial<AsyncDisposable>;

// What @trpc/server 11.25 calls them.
const promiseType = 0;
const iterableType = 1;
const fulfilled = 0;
const rejected = 1;
const returned = 0;
const yielded = 1;
const failed = 2;

/** After how many turns its producer looks at the outcomes: those that are there by then come in the calls' order. */
const turnsBefore = 5;

/** What of a value comes in lines of its own: its type, and its number. */
type Reference = readonly [type: number, id: number];

/**
 * The outcomes of a batch as JSON lines, written as `jsonlStreamProducer` (@trpc/server 11.25) writes them: a head that
 * numbers what is not there yet, then a line for each as it comes, which may number more.
 */
export class JsonLines implements BodyStream {
  readonly #options: JsonLinesOptions;
  readonly #entries: Entry[] = [];
  /** Of which call each numbered line is, and how many of those may still come. */
  readonly #callOf: number[] = [];
  #open = 0;
  /** The numbers whose lines are those of an iterable. */
  readonly #iterables = new Set<number>();
  readonly #iterators = new Map<number, Iterator>();
  #failure: { readonly cause: unknown } | undefined;
  #isOver = false;
  #endWatch = () => {};
  /** Who waits for the next lines. */
  #waiting: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  #isWaking = false;
  #pieces = 0;
  #ping: NodeJS.Timeout | undefined;

  constructor(outcomes: readonly Promise<LineOutcome>[], options: JsonLinesOptions) {
    this.#options = options;
    const numbers = outcomes.map((_outcome, call) => [[0], [null, promiseType, this.#register(call)]]);
    this.#entries.push(Object.assign({}, numbers));
    void this.#begin(outcomes);
  }

  /** Ends it, whatever is left of it. */
  cut(): void {
    if (!this.#end()) return;
    this.#entries.length = 0;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (!this.#isOver) this.#endWatch = this.#options.watch(() => this.cut());
    return {
      next: () => {
        this.#waiting = Promise.withResolvers();
        const { promise } = this.#waiting;
        this.#wake();
        return promise;
      },
      return: async () => {
        this.cut();
        return { done: true, value: undefined };
      },
    };
  }

  async #begin(outcomes: readonly Promise<LineOutcome>[]): Promise<void> {
    for (let turn = 0; turn < turnsBefore; turn += 1) await resolved;
    for (let call = 0; call < outcomes.length; call += 1) {
      outcomes[call]?.then(
        (outcome) => this.#outcome(outcome, call),
        (cause: unknown) => this.#reject(call, rejected, cause, call),
      );
    }
  }

  /** A promise of a result, which holds a promise of the data, each a turn later: plain lines, and most of them all. */
  #outcome(outcome: LineOutcome, call: number): void {
    if ('error' in outcome) return this.#fulfill(call, outcome, call);
    const result = this.#register(call);
    this.#push(this.#member(call, 'result', result));
    this.#close();
    void resolved.then(() => {
      if ('events' in outcome) return this.#fulfill(result, { data: outcome.events }, call);
      const data = this.#register(call);
      this.#push(this.#member(result, 'data', data));
      this.#close();
      return resolved.then(() => this.#fulfill(data, outcome.data, call));
    });
  }

  /** The line of an object whose one member is a promise. */
  #member(id: number, name: string, promise: number): Entry {
    return this.#options.serialize === undefined
      ? `[${id},${fulfilled},[[{"${name}":0}],["${name}",${promiseType},${promise}]]]\n`
      : [id, fulfilled, [[{ [name]: 0 }], [name, promiseType, promise]]];
  }

  #fulfill(id: number, value: unknown, call: number): void {
    let encoded: unknown;
    try {
      encoded = this.#encode(value, call);
    } catch (cause) {
      return this.#reject(id, rejected, cause, call);
    }
    this.#push([id, fulfilled, encoded]);
    this.#close();
  }

  #promise(promise: PromiseLike<unknown>, call: number): number {
    const id = this.#register(call);
    Promise.resolve(promise).then(
      (value) => this.#fulfill(id, value, call),
      (cause: unknown) => this.#reject(id, rejected, cause, call),
    );
    return id;
  }

  #iterable(iterable: AsyncIterable<unknown>, call: number): number {
    const id = this.#register(call);
    if (this.#isOver) return id;
    this.#iterables.add(id);
    try {
      const iterator: Iterator = iterable[Symbol.asyncIterator]();
      this.#iterators.set(id, iterator);
      const take = (result: IteratorResult<unknown>) => {
        this.#push([id, result.done ? returned : yielded, this.#encode(result.value, call)]);
        if (result.done) {
          this.#dispose(id);
          this.#close();
        } else this.#push(pull);
      };
      const pull = () => {
        // A value that was too large has ended it.
        if (!this.#iterators.has(id)) return;
        (async () => iterator.next())()
          .then(take)
          .catch((cause: unknown) => {
            this.#dispose(id);
            this.#reject(id, failed, cause, call);
          });
      };
      pull();
    } catch (cause) {
      this.#fail(cause);
    }
    return id;
  }

  /** How it ends is not waited for, and what it fails with is nobody's concern. */
  #dispose(id: number): void {
    const iterator = this.#iterators.get(id);
    if (iterator === undefined) return;
    this.#iterators.delete(id);
    (async () => iterator[Symbol.asyncDispose]?.() ?? iterator.return?.())().catch(() => {});
  }

  #register(call: number): number {
    this.#open += 1;
    return this.#callOf.push(call) - 1;
  }

  #close(): void {
    this.#open -= 1;
    this.#wake();
  }

  #push(entry: Entry): void {
    if (this.#isOver) return;
    this.#entries.push(entry);
    this.#wake();
  }

  #reject(id: number, status: number, cause: unknown, call: number): void {
    try {
      this.#push([id, status, this.#options.fail(cause, call)]);
      this.#close();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(cause: unknown): void {
    if (this.#isOver) return;
    this.#failure ??= { cause };
    this.#wake();
  }

  /** As tRPC has it: what comes later is looked for in the value itself, and one level below. */
  #encode(value: unknown, call: number): unknown {
    if (value === undefined) return [[]];
    const reference = this.#reference(value, call);
    if (reference) return [[0], [null, ...reference]];
    if (!isPlainObject(value) || isAllHere(value)) return [[value]];
    const now = Object.create(null) as Record<string, unknown>;
    const later: unknown[] = [];
    for (const [key, member] of Object.entries(value)) {
      const known = this.#reference(member, call);
      now[key] = known ? 0 : member;
      if (known) later.push([key, ...known]);
    }
    return [[now], ...later];
  }

  #reference(value: unknown, call: number): Reference | undefined {
    if (isPromise(value)) return [promiseType, this.#promise(value, call)];
    if (isAsyncIterable(value)) return [iterableType, this.#iterable(value, call)];
    return undefined;
  }

  /** Gives out what is there by the end of the turn: calls that end together go out in one piece. */
  #wake(): void {
    if (this.#waiting === undefined || this.#isWaking) return;
    const isReady =
      this.#entries.length > 0 || this.#open === 0 || this.#failure !== undefined || this.#isOver;
    if (!isReady) {
      const { pingMs } = this.#options;
      if (pingMs !== undefined) this.#ping ??= setTimeout(() => this.#give(' '), pingMs);
      return;
    }
    this.#isWaking = true;
    this.#pieces += 1;
    // An iterable that has always more to say, and a client that takes it, would hold the process.
    if (this.#pieces % piecesAtOnce === 0) setImmediate(this.#endTurn);
    else process.nextTick(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isWaking = false;
    if (this.#waiting) this.#flush(this.#waiting);
  };

  #flush(waiting: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>>): void {
    const text = this.#text();
    if (text !== '') return this.#give(text);
    if (this.#failure) {
      const { cause } = this.#failure;
      this.#end();
      // Not in the turn of what was given last: who cuts the connection then, cuts that off too (uWebSockets.js 20).
      setImmediate(() => waiting.reject(cause));
    } else if (this.#open === 0 || this.#isOver) {
      this.#end();
      waiting.resolve({ done: true, value: undefined });
    } else return this.#wake();
    this.#waiting = undefined;
  }

  /** What is to be sent now; what waits for it to be taken happens when more is asked for. */
  #text(): string {
    let text = '';
    let at = 0;
    try {
      for (; at < this.#entries.length && text.length < largeLength; at += 1) {
        const entry = this.#entries[at] as Entry;
        if (typeof entry === 'string') text += entry;
        else if (typeof entry !== 'function') text += `${this.#line(entry)}\n`;
        else if (text === '') entry();
        else break;
      }
    } catch (cause) {
      this.#entries.length = 0;
      this.#failure ??= { cause };
    }
    this.#entries.splice(0, at);
    return text;
  }

  #line(entry: Exclude<Entry, string | (() => void)>): string {
    const { fail, maxLineBytes, serialize } = this.#options;
    const written = (value: unknown) => (serialize ? serialize(value) : value);
    try {
      return boundedJson(written(entry), maxLineBytes) as string;
    } catch (cause) {
      // Not a line with a number: the head.
      if (!(cause instanceof LimitError) || !Array.isArray(entry)) throw cause;
      const id = entry[0] as number;
      // It goes on no more: what was to be asked for next is not.
      if (this.#iterators.has(id)) {
        this.#dispose(id);
        this.#open -= 1;
      }
      const status = this.#iterables.has(id) ? failed : rejected;
      return JSON.stringify(written([id, status, fail(cause, this.#callOf[id] as number)]));
    }
  }

  #give(text: string): void {
    clearTimeout(this.#ping);
    this.#ping = undefined;
    this.#waiting?.resolve({ done: false, value: Buffer.from(text) });
    this.#waiting = undefined;
  }

  /** @returns whether it was not over before */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#ping);
    this.#endWatch();
    if (this.#open === 0) return true;
    this.#options.abort();
    for (const id of this.#iterators.keys()) this.#dispose(id);
    return true;
  }
}

const resolved = Promise.resolve();

/** After how many pieces others have their turn. */
const piecesAtOnce = 64;

/** How much is written at once of what is at hand. */
const largeLength = 65_536;
