import { getTRPCErrorFromUnknown, isTrackedEnvelope, type TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { z } from 'zod';
import type { CallScope } from '../../policies/callScope.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';

/** The times of a stream of events, in milliseconds; `undefined`: without end. */
export interface StreamTimes {
  /** How often a quiet one says that it lives. */
  readonly pingMs: number | undefined;
  /** How long it lasts at most: its client connects anew, and goes on after the last event that it had. */
  readonly maxDurationMs: number | undefined;
}

export interface RestEventsOptions extends StreamTimes {
  readonly schema: z.ZodType;
  /** The largest event; in place of a larger one the stream ends with an error. */
  readonly maxEventBytes: number;
  /** Aborted when the stream is over: the subscription's signal. */
  readonly abort: Pick<CallScope, 'abort' | 'signal'>;
  /** Told of what it fails with once its head is out; gives the error's body, as the REST face answers it. */
  readonly onError: (error: TRPCError) => string;
}

/** For how long an error may come that is answered as such: then the head of the stream goes out. */
const graceMs = 250;

type Asked = { readonly result: IteratorResult<unknown> } | { readonly error: TRPCError };

/**
 * The output of a subscription as server-sent events: `data` is JSON, `id` is a tracked event's; at the end comes
 * `event: end`, and instead of it, where the subscription fails, `event: error` with the error's body.
 * @throws {TRPCError} what it fails with before its first event, where that comes soon
 */
export async function restEvents(
  output: unknown,
  options: RestEventsOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { abort, maxDurationMs, maxEventBytes, onError, pingMs, schema } = options;
  const iterator = iterable(output, abort.signal)[Symbol.asyncIterator]();
  let isOver = false;
  let lifetime: NodeJS.Timeout | undefined;

  let answer: Asked | undefined;
  let wake = () => {};
  const ask = () => {
    const settle = (settled: Asked) => {
      answer = settled;
      wake();
    };
    // Once for each answer, however often it is waited for: a quiet stream pings for days.
    iterator.next().then(
      (result) => settle({ result }),
      (cause: unknown) => settle({ error: getTRPCErrorFromUnknown(cause) }),
    );
  };
  /** Waits for the answer, or until so much time has passed. */
  const arrival = (ms: number | undefined): Promise<void> =>
    new Promise((resolve) => {
      if (answer !== undefined) return resolve();
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const stop = () => {
    isOver = true;
    clearTimeout(lifetime);
    abort.abort();
    wake();
    // Not waited for: one that does not look at its signal may never return. What it fails with is nobody's concern.
    (async () => iterator.return?.())().catch(() => {});
  };

  ask();
  await arrival(graceMs);
  if (answer && 'error' in answer) {
    abort.abort();
    throw answer.error;
  }

  async function eventOf(asked: Asked): Promise<{ readonly text: string; readonly isLast: boolean }> {
    try {
      if ('error' in asked) throw asked.error;
      const { done, value } = asked.result;
      if (done) return { text: 'event: end\ndata: \n\n', isLast: true };
      const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
      const json = boundedJson(await schema.parseAsync(data), maxEventBytes);
      return { text: `data: ${json}\n${id === undefined ? '' : `id: ${id}\n`}\n`, isLast: false };
    } catch (cause) {
      // What the schema refuses is the service's fault: it is answered like any other.
      return { text: `event: error\ndata: ${onError(getTRPCErrorFromUnknown(cause))}\n\n`, isLast: true };
    }
  }

  // uWebSockets.js ends the head with the first bytes of the body: without any, a client would not know that it is served.
  let isUnannounced = answer === undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (maxDurationMs === undefined) return;
        lifetime = setTimeout(() => {
          controller.close();
          stop();
        }, maxDurationMs).unref();
      },
      async pull(controller) {
        if (!isUnannounced) await arrival(pingMs);
        isUnannounced = false;
        if (isOver) return;
        const asked = answer;
        if (asked === undefined) return controller.enqueue(utf8.encode(':\n\n'));
        answer = undefined;
        try {
          const { text, isLast } = await eventOf(asked);
          if (isOver) return;
          controller.enqueue(utf8.encode(text));
          if (!isLast) return ask();
          controller.close();
        } catch (cause) {
          stop();
          throw cause;
        }
        stop();
      },
      cancel: stop,
    },
    // Nothing is asked for before the client has taken what came before.
    { highWaterMark: 0 },
  );
}

const utf8 = new TextEncoder();

function iterable(output: unknown, signal: AbortSignal): AsyncIterable<unknown> {
  if (isObservable(output)) return observableToAsyncIterable(output, signal);
  if (isAsyncIterable(output)) return output;
  throw new Error('The subscription gave neither an async iterable nor an observable.');
}
