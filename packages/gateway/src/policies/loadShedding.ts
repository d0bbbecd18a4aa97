// Hot path: every request runs through it.
import { performance } from '../http/eventLoop.ts';
import type { HttpRequest } from '../http/request.ts';
import { turn } from '../http/turn.ts';
import { LimitError } from '../procedures/limitError.ts';

/** The interval between two measurements while requests arrive, in milliseconds. A measurement costs 1 µs. */
const probeIntervalMs = 10;

/** How long a measurement is valid, in milliseconds, if no request arrives to start the next one. */
const measurementTtlMs = 100;

/** How long the queue must be too long, in ms. Most bursts are shorter; a cold process with 100 new streams is not. */
const sheddingDelayMs = 500;

/** The methods of a `MessagePort` in Node that the web standard does not have. */
interface NodePort {
  readonly on?: (event: 'message', listener: () => void) => unknown;
  readonly unref?: () => void;
}

/** Returns the error of a request that has waited too long in its socket. */
export type LoadShedding = (request: HttpRequest) => LimitError | undefined;

/**
 * Rejects requests that have waited longer than `maxQueueMs`, after requests did so for half a second: it sheds a
 * standing queue, not a burst. It runs before all policies: at 120% of a server's capacity, goodput stays at 90% only
 * if a rejection costs less than a third of a response.
 *
 * It measures how long a ready socket waits to be read, by a message of the thread to itself. The message comes
 * through a file descriptor, which the kernel queues after the sockets that are ready, so it waits as long as they
 * do, also behind requests beyond the budget of a turn. The duration of a turn is no substitute: libuv reads up to 48
 * × 1,024 sockets in one. With 4,000 connections and 20% overload, turns took 1.9 s without timers or `setImmediate`,
 * and no request waited for a tenth of that.
 * @param maxQueueMs a finite number
 */
export function createLoadShedding(maxQueueMs: number): LoadShedding {
  // Created lazily: in-process clients never call this.
  let port: ReturnType<typeof openPort> | undefined;
  /** Since when the queue has been too long. It is reset when the queue is half as long. */
  let tooLongSince = Infinity;
  let isPending = false;
  let sentAt = 0;
  let arrivedAt = 0;

  // Do not send the next message from here: it would arrive immediately.
  function onMessage(): void {
    // Requests that have waited longer than the message run first.
    if (turn.hasWaitingRequests) turn.later(measure);
    else measure();
  }

  function measure(): void {
    isPending = false;
    arrivedAt = performance.now();
    const ms = arrivedAt - sentAt;
    if (ms < maxQueueMs / 2) tooLongSince = Infinity;
    else if (ms > maxQueueMs) tooLongSince = Math.min(tooLongSince, sentAt);
  }

  return ({ method }) => {
    const now = performance.now();
    if (isPending) {
      const isOverloaded = now - sentAt > maxQueueMs && now - tooLongSince > sheddingDelayMs;
      // Serving a preflight costs as much as rejecting it, and a page cannot see why its preflight failed.
      return isOverloaded && method !== 'OPTIONS' ? queueTimeExceeded : undefined;
    }
    if (now - sentAt < probeIntervalMs) return undefined;
    if (now - arrivedAt > measurementTtlMs) tooLongSince = Infinity;
    isPending = true;
    sentAt = now;
    port ??= openPort(onMessage);
    port.postMessage(null);
    return undefined;
  };
}

/** Opens a port whose messages arrive in this thread. */
function openPort(onMessage: () => void) {
  const { port1, port2 } = new MessageChannel();
  const { on, unref } = port2 as NodePort;
  // In Node, `addEventListener` creates an event object, and that class loads undici (6 MB).
  if (on) on.call(port2, 'message', onMessage);
  else port2.addEventListener('message', onMessage);
  port2.start();
  // Do not keep the process alive.
  unref?.call(port2);
  return port1;
}

const queueTimeExceeded = new LimitError('queue-time', {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The server is overloaded. Try again later.',
  retryAfterSeconds: 1,
});
