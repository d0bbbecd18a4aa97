// Hot path: one encoder for a request. tRPC needs 190 µs a call (`npm run bench`, case lines).
import type { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { afterPromises } from '../../http/eventLoop.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import type { BodyStream } from '../../http/response.ts';
import { TextStream, type TextStreamOptions } from '../../http/textStream.ts';
import type { OutcomeReceiver } from '../../policies/calls.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import { Failure } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';

/** What all responses of a router have in common. */
export interface JsonLinesFormat {
  /** The transformer's, for each line. `undefined`: lines are written as they are. */
  readonly serialize: ((line: unknown) => unknown) | undefined;
  /** The largest line, in bytes; the error of its call replaces a larger one. */
  readonly maxLineBytes: number;
}

export interface JsonLinesOptions extends TextStreamOptions {
  /** How many calls the batch has. */
  readonly calls: number;
  /** Its signal ends observables. It is read for them alone: it takes 3% of a batch of 10. */
  readonly scope: { readonly signal: AbortSignal };
  /** Reports the error of a call. @returns its shape */
  readonly callError: (error: TRPCError, call: number) => unknown;
  /**
   * Reports an error of a promise or an iterable within an output. @returns its shape. The stream fails if it throws.
   */
  readonly outputError: (cause: unknown, call: number) => unknown;
  /** Aborts the calls: called when the stream ends before its lines are complete. */
  readonly abort: () => void;
}

/** An async iterable within an output. Its values are lines with its id. */
interface IterableSource {
  readonly id: number;
  readonly call: number;
  readonly iterator: AsyncIterator<unknown> & Partial<AsyncDisposable>;
}

/** Settles the promise with this id, or has a value of the iterable with it. */
type QueuedLine = readonly [
  id: number,
  status: number,
  value: unknown,
  call: number,
  source: IterableSource | undefined,
];

// The numbers of @trpc/server 11.25.
const promiseType = 0;
const iterableType = 1;
const statusFulfilled = 0;
const statusRejected = 1;
const statusReturn = 0;
const statusYield = 1;
const statusError = 2;

/** How much of what is at hand is written at once. */
const maxTextLength = 65_536;

/**
 * The outcomes of a batch as JSON lines, written as `jsonlStreamProducer` (@trpc/server 11.25) writes them: the head is
 * an object of promises, one for each call; each further line settles a promise, or is a value of an iterable, and may
 * hold further ones. A call has three lines: `{ result }`, `{ data }` and the output, or one with its error.
 *
 * Ids do not depend on time: of `n` calls, number `i` has the ids `i`, `n + i` and `2n + i`. Lines of calls come in the
 * order of their outcomes.
 */
export class JsonLines extends TextStream implements OutcomeReceiver {
  readonly #format: JsonLinesFormat;
  readonly #options: JsonLinesOptions;
  /** How many promises and iterables are not settled. */
  #open: number;
  #nextId: number;
  readonly #sources = new Set<IterableSource>();
  /** The sources with a value that the network has not taken. */
  readonly #written: IterableSource[] = [];
  /** Lines beyond `largeLength`, not yet JSON: a batch may have the same large output 100 times. */
  readonly #waiting: QueuedLine[] = [];
  #whole: PromiseWithResolvers<string | BodyStream> | undefined;

  constructor(format: JsonLinesFormat, options: JsonLinesOptions) {
    super(' ', options);
    const { calls } = options;
    this.#format = format;
    this.#options = options;
    this.#open = calls;
    this.#nextId = 3 * calls;
    let head = '';
    for (let call = 0; call < calls; call += 1) head += `,"${call}":[[0],[null,${promiseType},${call}]]`;
    head = `{${head.slice(1)}}`;
    try {
      this.text = `${format.serialize ? JSON.stringify(format.serialize(JSON.parse(head))) : head}\n`;
    } catch (cause) {
      this.cutAfterText(cause);
    }
  }

  /** Writes the outcome of a call. Never throws. */
  settle(call: number, outcome: unknown): void {
    const { callError, calls, scope } = this.#options;
    const result = calls + call;
    try {
      if (outcome instanceof Failure) {
        this.#fulfill(call, { error: callError(outcome.error, call) }, call);
      } else if (isObservable(outcome)) {
        const data = observableToAsyncIterable(outcome, scope.signal);
        this.#refer(call, 'result', result, call);
        this.#fulfill(result, { data }, call);
      } else {
        const data = calls + result;
        this.#refer(call, 'result', result, call);
        this.#refer(result, 'data', data, call);
        this.#fulfill(data, outcome, call);
      }
    } catch (cause) {
      this.#reject(call, cause, call);
    }
    this.#close();
  }

  /**
   * The body, once the calls are started: text, where all outcomes are there by the end of the turn. It needs half the
   * time of a stream.
   */
  body(): string | BodyStream | Promise<string | BodyStream> {
    const text = this.takeWhole();
    if (text !== undefined) return text;
    if (this.isLast || this.#open === 0) return this;
    this.#whole = Promise.withResolvers();
    const { promise, resolve } = this.#whole;
    afterPromises(() => {
      this.#whole = undefined;
      resolve(this);
    });
    return promise;
  }

  protected override onPull(): void {
    if (this.hasEnded) return;
    if (this.text === '') for (const source of this.#written.splice(0)) this.#request(source);
    while (this.#waiting.length > 0 && this.text.length < maxTextLength) {
      this.#write(...(this.#waiting.shift() as QueuedLine));
    }
    this.#endIfComplete();
  }

  protected override onEnd(): void {
    if (this.#open === 0) return;
    this.#options.abort();
    for (const source of this.#sources) dispose(source);
    this.#sources.clear();
  }

  /** Settles a promise with an object that has a promise as its one member. */
  #refer(id: number, name: string, promise: number, call: number): void {
    if (this.#format.serialize || this.#waiting.length > 0) {
      this.#add(id, statusFulfilled, [[{ [name]: 0 }], [name, promiseType, promise]], call);
    } else if (!this.isLast && !this.hasEnded) {
      // As text: 2 of each 3 lines, which JSON.stringify takes 25% of a batch for.
      this.text += `[${id},${statusFulfilled},[[{"${name}":0}],["${name}",${promiseType},${promise}]]]\n`;
    }
  }

  /** Settles a promise with a value, which may hold further promises and iterables. */
  #fulfill(id: number, value: unknown, call: number): void {
    try {
      this.#add(id, statusFulfilled, this.#encode(value, call), call);
    } catch (cause) {
      this.#reject(id, cause, call);
    }
  }

  /** Settles a promise, or ends an iterable, with an error. */
  #reject(id: number, cause: unknown, call: number, source?: IterableSource): void {
    if (this.hasEnded) return;
    try {
      this.#add(
        id,
        source ? statusError : statusRejected,
        this.#options.outputError(cause, call),
        call,
        source,
      );
    } catch (failure) {
      this.cutAfterText(failure);
    }
  }

  #encode(value: unknown, call: number): unknown {
    if (value === undefined) return [[]];
    const reference = this.#reference(value, call);
    if (reference) return [[0], [null, ...reference]];
    if (!isPlainObject(value) || !hasLater(value)) return [[value]];
    const object = Object.create(null) as Record<string, unknown>;
    const references: unknown[] = [];
    for (const [key, member] of Object.entries(value)) {
      const inner = this.#reference(member, call);
      object[key] = inner ? 0 : member;
      if (inner) references.push([key, ...inner]);
    }
    return [[object], ...references];
  }

  /** What stands for a value that comes later. */
  #reference(value: unknown, call: number): readonly [type: number, id: number] | undefined {
    if (isPromise(value)) return [promiseType, this.#promise(value, call)];
    if (isAsyncIterable(value)) return [iterableType, this.#iterable(value, call)];
    return undefined;
  }

  #promise(promise: PromiseLike<unknown>, call: number): number {
    const id = this.#register();
    void (async () => {
      try {
        this.#fulfill(id, await promise, call);
      } catch (cause) {
        this.#reject(id, cause, call);
      }
      this.#close();
    })();
    return id;
  }

  #iterable(iterable: AsyncIterable<unknown>, call: number): number {
    const id = this.#register();
    if (this.hasEnded) return id;
    try {
      const source: IterableSource = { id, call, iterator: iterable[Symbol.asyncIterator]() };
      this.#sources.add(source);
      this.#request(source);
    } catch (cause) {
      this.cutAfterText(cause);
    }
    return id;
  }

  #request(source: IterableSource): void {
    if (!this.#sources.has(source)) return;
    const { call, id, iterator } = source;
    (async () => {
      const next = await iterator.next();
      const status = next.done ? statusReturn : statusYield;
      this.#add(id, status, this.#encode(next.value, call), call, source);
      if (next.done) this.#end(source);
    })().catch((cause: unknown) => {
      this.#reject(id, cause, call, source);
      this.#end(source);
    });
  }

  #end(source: IterableSource): void {
    if (!this.#sources.delete(source)) return;
    dispose(source);
    this.#close();
  }

  #register(): number {
    this.#open += 1;
    this.#nextId += 1;
    return this.#nextId - 1;
  }

  #close(): void {
    this.#open -= 1;
    this.#endIfComplete();
    this.sendSoon();
  }

  #endIfComplete(): void {
    if (this.#open > 0 || this.#waiting.length > 0) return;
    this.isLast = true;
    const whole = this.#whole && this.takeWhole();
    if (whole !== undefined) this.#whole?.resolve(whole);
  }

  #add(id: number, status: number, value: unknown, call: number, source?: IterableSource): void {
    if (this.isLast || this.hasEnded) return;
    const isFull = this.#waiting.length > 0 || this.text.length >= maxTextLength;
    if (isFull) this.#waiting.push([id, status, value, call, source]);
    else this.#write(id, status, value, call, source);
    this.sendSoon();
  }

  #write(id: number, status: number, value: unknown, call: number, source: IterableSource | undefined): void {
    const { maxLineBytes, serialize } = this.#format;
    const isError = status === (source ? statusError : statusRejected);
    try {
      const line = [id, status, value];
      const json = boundedJson(serialize ? serialize(line) : line, isError ? Infinity : maxLineBytes);
      this.text += `${json}\n`;
      if (source && status === statusYield) this.#written.push(source);
    } catch (cause) {
      if (!isError && cause instanceof LimitError) {
        this.#reject(id, cause, call, source);
        if (source) this.#end(source);
      } else {
        // As in tRPC.
        this.#waiting.length = 0;
        this.cutAfterText(cause);
      }
    }
  }
}

/** Not awaited: an iterator may never return. Its errors have no receiver. */
function dispose({ iterator }: IterableSource): void {
  (async () => iterator[Symbol.asyncDispose]?.() ?? iterator.return?.())().catch(() => {});
}

/**
 * Whether a member of an object comes later. By its keys: most outputs are looked through here, and a list of values
 * costs more.
 */
export function hasLater(object: object): boolean {
  for (const key of Object.keys(object)) {
    const member = (object as Readonly<Record<string, unknown>>)[key];
    if (isPromise(member) || isAsyncIterable(member)) return true;
  }
  return false;
}

/** As tRPC asks it. */
function isPromise(value: unknown): value is Promise<unknown> {
  if (!isObject(value) && typeof value !== 'function') return false;
  // In this order: nearly nothing has a `then`.
  const { then } = value as { readonly then?: unknown };
  return typeof then === 'function' && typeof (value as { readonly catch?: unknown }).catch === 'function';
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
