import { getTRPCErrorFromUnknown, isTrackedEnvelope, type TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { after } from '../../http/after.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { EventFormat } from '../../http/serverSentEvents.ts';
import { boundedJson } from '../../policies/responseBytes.ts';

export interface RestEventFormatOptions {
  /** Comes before all events: a ping, where the response must begin without one. */
  readonly start: string;
  /** Checks an event against the schema of the operation. */
  readonly parse: (event: unknown) => unknown;
  /** The largest event, in bytes; the stream ends with an error in place of a larger one. */
  readonly maxEventBytes: number;
  /** Reports an error. @returns the body of its response */
  readonly reportError: (error: TRPCError) => string;
}

/** Keeps a stream alive: a comment. */
export const ping = ':\n\n';

/**
 * A subscription as server-sent events over REST: `data` is JSON, `id` is a tracked event's. The last event is `end`, or
 * `error` with the body of the error.
 */
export class RestEventFormat implements EventFormat {
  readonly start: string;
  readonly end = 'event: end\ndata: \n\n';
  readonly ping = ping;
  readonly #options: RestEventFormatOptions;

  constructor(options: RestEventFormatOptions) {
    this.start = options.start;
    this.#options = options;
  }

  event(value: unknown): string | Promise<string> {
    const { maxEventBytes, parse } = this.#options;
    const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
    return after(parse(data), (event) => {
      const json = boundedJson(event, maxEventBytes);
      return `data: ${json}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
    });
  }

  error(cause: unknown): string {
    return `event: error\ndata: ${this.#options.reportError(getTRPCErrorFromUnknown(cause))}\n\n`;
  }
}

/** The output of a subscription as an async iterable. */
export function eventsOf(output: unknown, signal: AbortSignal): AsyncIterable<unknown> {
  if (isObservable(output)) return observableToAsyncIterable(output, signal);
  if (isAsyncIterable(output)) return output;
  throw new Error('The subscription returned neither an async iterable nor an observable.');
}

/** How long an error before the first event can still become an error response. */
const graceMs = 250;

/**
 * Waits for the first event of a subscription, but not for long.
 * @returns the events, the first among them, and whether that has come
 * @throws what the subscription fails with meanwhile
 */
export async function awaitFirst(
  events: AsyncIterable<unknown>,
): Promise<{ readonly events: AsyncIterable<unknown>; readonly hasBegun: boolean }> {
  const iterator = events[Symbol.asyncIterator]();
  const first = Promise.resolve(iterator.next());
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), graceMs);
  });
  const result = await Promise.race([first, grace]).finally(() => clearTimeout(timer));
  let isFirst = true;
  const rest: AsyncIterator<unknown> = {
    next: () => {
      if (!isFirst) return iterator.next();
      isFirst = false;
      return first;
    },
    return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
  };
  return { events: { [Symbol.asyncIterator]: () => rest }, hasBegun: result !== undefined };
}
