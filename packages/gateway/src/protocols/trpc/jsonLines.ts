// Hot path: one encoder per request. tRPC needs 190 µs per call (`npm run bench`, case lines).
import type { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { afterPromises } from '../../http/eventLoop.ts';
import {
  discardAsync,
  ignoreRejections,
  isAsync,
  isPromise,
  isStreamLike,
  type AsyncValue,
} from '../../http/asyncValues.ts';
import { isContainer } from '../../http/isObject.ts';
import type { BodyStream } from '../../http/response.ts';
import { TextStream, type TextStreamOptions } from '../../http/textStream.ts';
import type { OutcomeReceiver } from '../../calls/deadlines.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { Failure, failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { encodeError } from './trpcErrors.ts';

export interface JsonLinesOptions extends TextStreamOptions {
  /** The transformer's `serialize`, called for each line. `undefined` if lines are not transformed. */
  readonly serialize: ((line: unknown) => unknown) | undefined;
  /** Maximum size of a line, in bytes. A larger one is replaced by an error. */
  readonly maxLineBytes: number;
  readonly calls: number;
  /** The context of the request. Its signal ends observables, and is read only for them: that takes 3% of a batch of 10. */
  readonly context: Pick<RequestContext, 'outcome' | 'request' | 'signal'>;
  /** Converts what a call, a promise or an iterable throws to its error. */
  readonly toError: (cause: unknown) => TRPCError;
  /** Reports the error of a call, or, without one, of a promise, an iterable or a line. It does not throw. */
  readonly report: (error: TRPCError, call?: number) => void;
  /** Returns the shape of an error. The stream fails if it throws. */
  readonly shapeOf: (error: TRPCError, call: number) => object;
  /** Aborts the calls. Called when the stream ends before its lines are complete. */
  readonly abort: () => void;
}

/** The owner of a line: a call, or a promise or an async iterable in its output. */
interface Target {
  readonly id: number;
  readonly call: number;
  /** Whether it is an async iterable: each of its values is a line. */
  readonly isIterable?: boolean;
}

/** A promise, as an iterator that returns its value, or an async iterable. */
interface Source extends Target {
  readonly iterator: AsyncIterator<unknown> & Partial<AsyncDisposable>;
}

// The numbers of @trpc/server 11.25.
const promiseType = 0;
const iterableType = 1;
const statusFulfilled = 0;
const statusRejected = 1;
const statusReturn = 0;
const statusYield = 1;
const statusError = 2;

/** Length of text beyond which further lines are queued unencoded. */
const maxTextLength = 65_536;

/**
 * Encodes a batch as JSON lines, as tRPC's `jsonlStreamProducer` (@trpc/server 11.25). The first line has a promise for
 * each call. Each further line settles one, or has a value of an iterable, and may contain more. A call has three
 * lines, `{ result }`, `{ data }` and the output, or one with its error. Of `n` calls, call `i` has the ids `i`, `n +
 * i` and `2n + i`, whatever the timing. Lines are in the order of outcomes.
 */
export class JsonLines extends TextStream implements OutcomeReceiver {
  readonly #options: JsonLinesOptions;
  /** Number of promises and iterables that are not settled. */
  #unsettledCount: number;
  #nextId: number;
  readonly #sources = new Set<Source>();
  /** Iterables with a value in `text`: the next one is requested when `text` has been sent. */
  readonly #sourcesInText: Source[] = [];
  /** Lines beyond `maxTextLength`. Not encoded yet, since a batch may have the same large output 100 times. */
  readonly #queue: (() => void)[] = [];
  #pendingBody: PromiseWithResolvers<string | BodyStream> | undefined;

  constructor(options: JsonLinesOptions) {
    super(' ', options);
    const { calls, serialize } = options;
    this.#options = options;
    this.#unsettledCount = calls;
    this.#nextId = 3 * calls;
    let head = '';
    for (let call = 0; call < calls; call += 1) head += `,"${call}":[[0],[null,${promiseType},${call}]]`;
    head = `{${head.slice(1)}}`;
    try {
      this.text = `${serialize ? JSON.stringify(serialize(JSON.parse(head))) : head}\n`;
    } catch (cause) {
      this.cutAfterText(cause);
    }
  }

  /** Writes the outcome of a call. Never throws. */
  settle(call: number, outcome: unknown): void {
    const { calls, report, context, shapeOf } = this.#options;
    const result = calls + call;
    try {
      if (outcome instanceof Failure) {
        report(outcome.error, call);
        context.outcome.callFailed(outcome.error, call, context.request.isAborted);
        this.#fulfill({ id: call, call }, { error: shapeOf(outcome.error, call) });
      } else if (isObservable(outcome)) {
        const data = observableToAsyncIterable(outcome, context.signal);
        this.#fulfillWithPromise(call, 'result', result, call);
        this.#fulfill({ id: result, call }, { data });
      } else {
        const data = calls + result;
        this.#fulfillWithPromise(call, 'result', result, call);
        this.#fulfillWithPromise(result, 'data', data, call);
        this.#fulfill({ id: data, call }, outcome);
      }
    } catch (cause) {
      this.#reject({ id: call, call }, cause);
    }
    this.#settleOne();
  }

  /** Returns the body; a string, in half the time of a stream, if all outcomes arrive in the same turn. */
  body(): string | BodyStream | Promise<string | BodyStream> {
    const text = this.takeWhole();
    if (text !== undefined) return text;
    if (this.isLast || this.#unsettledCount === 0) return this;
    this.#pendingBody = Promise.withResolvers();
    const { promise, resolve } = this.#pendingBody;
    afterPromises(() => {
      this.#pendingBody = undefined;
      resolve(this);
    });
    return promise;
  }

  protected override onPull(): void {
    if (this.text === '') for (const source of this.#sourcesInText.splice(0)) this.#requestNext(source);
    while (this.#queue.length > 0 && this.text.length < maxTextLength) this.#queue.shift()?.();
    this.#endIfComplete();
  }

  protected override onEnd(): void {
    if (this.#unsettledCount === 0) return;
    this.#options.abort();
    for (const source of this.#sources) closeIterator(source);
    this.#sources.clear();
  }

  /** Fulfills a promise with an object whose only member is another promise. */
  #fulfillWithPromise(id: number, name: string, promise: number, call: number): void {
    if (this.#options.serialize || this.#queue.length > 0) {
      this.#add({ id, call }, statusFulfilled, [[{ [name]: 0 }], [name, promiseType, promise]]);
    } else if (!this.isLast) {
      // Concatenated: these are 2 of each 3 lines, and JSON.stringify would take 25% of a batch.
      this.text += `[${id},${statusFulfilled},[[{"${name}":0}],["${name}",${promiseType},${promise}]]]\n`;
    }
  }

  /** Fulfills a promise with a value, which may contain further promises and iterables. */
  #fulfill(target: Target, value: unknown): void {
    try {
      this.#add(target, statusFulfilled, this.#encode(value, target.call));
    } catch (cause) {
      this.#reject(target, cause);
    }
  }

  /** Rejects a promise, or ends an iterable, with an error. */
  #reject(target: Target, cause: unknown): void {
    if (this.isLast) return;
    const { context, report, shapeOf, toError } = this.#options;
    try {
      const error = toError(cause);
      report(error);
      context.outcome.callFailed(error, target.call, context.request.isAborted);
      this.#add(target, target.isIterable ? statusError : statusRejected, shapeOf(error, target.call));
    } catch (reportingError) {
      this.cutAfterText(reportingError);
    }
  }

  #encode(value: unknown, call: number): unknown {
    if (value === undefined) return [[]];
    if (isAsync(value)) return [[0], [null, ...this.#placeholder(value, call)]];
    if (!isStreamLike(value) || !isContainer(value)) return [[value]];
    const object = Object.create(null) as Record<string, unknown>;
    const references: unknown[] = [];
    for (const [key, member] of Object.entries(value)) {
      const isReplaced = isAsync(member);
      object[key] = isReplaced ? 0 : member;
      if (isReplaced) references.push([key, ...this.#placeholder(member, call)]);
    }
    return [[object], ...references];
  }

  /** Registers a promise or an async iterable, and returns its placeholder. */
  #placeholder(value: AsyncValue, call: number): readonly [type: number, id: number] {
    const isIterable = !isPromise(value);
    const id = this.#nextId;
    this.#nextId += 1;
    this.#unsettledCount += 1;
    if (this.isLast) discardAsync(value);
    else {
      try {
        const iterator = isIterable ? value[Symbol.asyncIterator]() : { next: () => value.then(toReturn) };
        const source = { id, call, isIterable, iterator };
        this.#sources.add(source);
        this.#requestNext(source);
      } catch (cause) {
        this.cutAfterText(cause);
      }
    }
    return [isIterable ? iterableType : promiseType, id];
  }

  #requestNext(source: Source): void {
    if (!this.#sources.has(source)) return;
    (async () => {
      const next = await source.iterator.next();
      this.#add(source, next.done ? statusReturn : statusYield, this.#encode(next.value, source.call));
      ignoreRejections(next.value);
      if (next.done) this.#endSource(source);
    })().catch((cause: unknown) => {
      this.#reject(source, cause);
      this.#endSource(source);
    });
  }

  #endSource(source: Source): void {
    if (!this.#sources.delete(source)) return;
    closeIterator(source);
    this.#settleOne();
  }

  #settleOne(): void {
    this.#unsettledCount -= 1;
    if (this.#unsettledCount === 0) this.#endIfComplete();
    if (this.isPulled) this.sendSoon();
  }

  #endIfComplete(): void {
    if (this.#unsettledCount > 0 || this.#queue.length > 0) return;
    this.isLast = true;
    const text = this.#pendingBody && this.takeWhole();
    if (text !== undefined) this.#pendingBody?.resolve(text);
  }

  #add(target: Target, status: number, value: unknown): void {
    if (this.isLast) return;
    const isFull = this.#queue.length > 0 || this.text.length >= maxTextLength;
    if (isFull) this.#queue.push(() => this.#write(target, status, value));
    else this.#write(target, status, value);
    if (this.isPulled) this.sendSoon();
  }

  #write(target: Target, status: number, value: unknown): void {
    const { maxLineBytes, report, serialize } = this.#options;
    const { id, isIterable } = target;
    const isError = status === (isIterable ? statusError : statusRejected);
    const line = [id, status, value];
    const toLine = (each: unknown) => {
      line[2] = each;
      return serialize ? serialize(line) : line;
    };
    try {
      const json = isError
        ? encodeError(value as object, toLine, maxLineBytes).text
        : boundedJson(serialize ? serialize(line) : line, maxLineBytes);
      this.text += `${json}\n`;
      if (isIterable && status === statusYield) this.#sourcesInText.push(target as Source);
    } catch (cause) {
      if (cause instanceof LimitError) {
        this.#reject(target, cause);
        return this.#endSource(target as Source);
      }
      // As in tRPC, the stream fails. Here it is cut, so that no client takes it for complete.
      this.#queue.length = 0;
      report(failureOf(cause).error);
      this.cutAfterText(cause);
    }
  }
}

/** Converts the value of a promise to the result of an iterator that returns it. */
const toReturn = (value: unknown): IteratorReturnResult<unknown> => ({ done: true, value });

/** Closes an iterator. Not awaited, since it may never return; errors are ignored. */
function closeIterator({ iterator }: Source): void {
  (async () => iterator[Symbol.asyncDispose]?.() ?? iterator.return?.())().catch(() => {});
}
