// Hot path: every request runs through it.
import { performance } from '../http/performance.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { Policy } from './policy.ts';

/** How often the queue is measured while requests come, in milliseconds. A message costs 1 µs. */
const everyMs = 10;

/** How long what was measured holds where nothing comes to measure it anew, in milliseconds. */
const holdsMs = 100;

/**
 * How long a queue must have stood before anything is refused, in milliseconds: a pause is over by then, and most
 * bursts. A cold process that opens a hundred streams while others have the processor needs longer still.
 */
const standsMs = 500;

/** What ports of Node have besides the web's. */
interface NodePort {
  readonly on?: (event: 'message', listener: () => void) => unknown;
  readonly unref?: () => void;
}

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
    const { on, unref } = port2 as NodePort;
    const onMessage = () => this.#arrived();
    // In Node `addEventListener` makes an event, whose class loads undici: 6 MB.
    if (on) on.call(port2, 'message', onMessage);
    else port2.addEventListener('message', onMessage);
    port2.start();
    // It does not keep the process.
    unref?.call(port2);
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
 * Rejects requests that have waited longer than `maxQueueMs` to be read, once requests have done so for half a second: a
 * standing queue, and not one burst, which is served whole. It decides before anything else, since at 120% of a server's
 * capacity goodput stays at 90% only if a rejection costs less than a third of a response.
 * @param maxQueueMs finite
 */
export function loadSheddingPolicy(maxQueueMs: number): Policy<unknown> {
  let queue: QueueProbe | undefined;
  return {
    arrive() {
      const now = performance.now();
      // Made when an adapter asks first: in-process clients need none.
      queue ??= new QueueProbe(maxQueueMs);
      if (!queue.isUnderWay) {
        if (now - queue.sentAt >= everyMs) queue.send(now);
        return undefined;
      }
      return now - queue.sentAt > maxQueueMs && now - queue.tooLongSince > standsMs ? overloaded : undefined;
    },
  };
}

const overloaded = new LimitError('queue-time', {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The server is asked for more than it can answer. Try again later.',
  retryAfterSeconds: 1,
});
