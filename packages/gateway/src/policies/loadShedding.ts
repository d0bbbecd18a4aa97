// Hot path: every request runs through it.
import { performance } from 'node:perf_hooks';
import { MessageChannel } from 'node:worker_threads';
import { Answer } from '../http/answer.ts';
import type { HttpRequest } from '../http/request.ts';
import { LimitError } from '../procedures/limitError.ts';

type Face = 'rest' | 'rpc';

/** Whether the request that is being read has waited too long: what words its refusal; `undefined` where it has not. */
export type LoadShedding = (request: HttpRequest) => ((face: Face) => Answer) | undefined;

/** How often the queue is measured while requests come, in milliseconds. A message costs 1 µs. */
const everyMs = 10;

/** How long what was measured holds where nothing comes to measure it anew, in milliseconds. */
const holdsMs = 100;

/**
 * How long a queue must have stood before anything is refused, in milliseconds: a pause is over by then, and most
 * bursts. A cold process that opens a hundred streams while others have the processor needs longer still.
 */
const standsMs = 500;

/**
 * Measures how long a socket that is ready waits until this thread reads it. A message of the thread to itself wakes the
 * event loop by a file descriptor, which the kernel queues behind the sockets that are ready by then. Its time until it
 * comes is theirs too, and what is read while it is under way was ready before it.
 *
 * A turn of the event loop is no measure: libuv reads up to 48 times 1,024 sockets in one. With 4,000 connections and 20%
 * too much load turns took 1.9 s, in which no timer and no `setImmediate` ran, and no request waited for a tenth of that.
 */
class QueueProbe {
  /** Since when the queue has been too long; it is not any more once it is half as long. */
  tooLongSince = Infinity;
  sentAt = 0;
  isUnderWay = false;
  #arrivedAt = 0;
  readonly #maxQueueMs: number;
  readonly #port;

  constructor(maxQueueMs: number) {
    this.#maxQueueMs = maxQueueMs;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port2.on('message', () => this.#arrived());
    // It does not keep the process.
    port2.unref();
  }

  send(now: number): void {
    if (now - this.#arrivedAt > holdsMs) this.tooLongSince = Infinity;
    this.isUnderWay = true;
    this.sentAt = now;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node's is no window
    this.#port.postMessage(null);
  }

  // It is not sent anew from here: it would arrive with this one, at once.
  #arrived(): void {
    this.isUnderWay = false;
    this.#arrivedAt = performance.now();
    const ms = this.#arrivedAt - this.sentAt;
    if (ms < this.#maxQueueMs / 2) this.tooLongSince = Infinity;
    else if (ms > this.#maxQueueMs) this.tooLongSince = Math.min(this.tooLongSince, this.sentAt);
  }
}

/**
 * Refuses what has waited longer than `maxQueueMs` to be read, where that has been so for half a second: a queue that
 * stands, and not one burst, which is served whole.
 *
 * It is decided before the credential is looked at, and the refusals are made once for all: at 120% of what a server can
 * do, goodput stays at 90% only if a refusal costs less than a third of an answer.
 * @param maxQueueMs `Infinity`: nothing is refused
 * @param failures how each face words an error
 */
export function createLoadShedding(
  maxQueueMs: number,
  failures: Readonly<Record<Face, (error: LimitError) => Answer>>,
): LoadShedding {
  if (maxQueueMs === Infinity) return () => undefined;
  let queue: QueueProbe | undefined;
  const refusals: Partial<Record<Face, Answer>> = {};

  function refuse(face: Face): Answer {
    const refusal = (refusals[face] ??= failures[face](
      new LimitError('queue-time', {
        code: 'SERVICE_UNAVAILABLE',
        message: 'The server is asked for more than it can answer. Try again later.',
        retryAfterSeconds: 1,
      }),
    ));
    const answer = Answer.of(refusal);
    answer.limit = refusal.limit;
    return answer;
  }

  return (request) => {
    const now = request.seenAt ?? performance.now();
    // Not before a host asks: an in-process client needs none.
    queue ??= new QueueProbe(maxQueueMs);
    if (!queue.isUnderWay) {
      if (now - queue.sentAt >= everyMs) queue.send(now);
      return undefined;
    }
    const isLate = now - queue.sentAt > maxQueueMs && now - queue.tooLongSince > standsMs;
    return isLate ? refuse : undefined;
  };
}
