import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeptConnection } from './keptConnection.ts';

/** Times in milliseconds. */
interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LoadResult {
  /** Requests a second that were to be sent; of a closed loop, that were. */
  readonly offered: number;
  /** Answers 2xx a second. */
  readonly goodput: number;
  readonly refused: number;
  /** Answers that are neither 2xx nor 503, and connections that ended before their answer. */
  readonly failed: number;
  /** Requests for which no connection was free until the end. */
  readonly unsent: number;
  /** From the time a request was to be sent to its answer. */
  readonly latency: Percentiles;
  /** The same, of 503. */
  readonly refusal: Percentiles;
  /** How long the generator was away between two looks at its clock: what it measured is no better than that. */
  readonly pause: Percentiles;
  /** Whether at some time no connection was free: then requests waited for one, where no server can see them. */
  readonly ranOut: boolean;
}

export interface Load {
  /** Requests a second. `undefined`: a closed loop, each connection asks again when it is answered. */
  readonly rate: number | undefined;
  readonly seconds: number;
}

/** How long answers that are still to come are waited for, in milliseconds. */
const settleMs = 1000;

/** Requests to one server, on connections that are kept for all loads. */
export class OpenLoop {
  readonly #request: Buffer;
  readonly #connections: KeptConnection[];
  /** Those that have no request on their way, the one that was asked last at the end. */
  #idle: KeptConnection[] = [];
  #onIdle: (connection: KeptConnection) => void = () => {};
  #counts = new Counts();

  constructor(port: number, connections: number, request: string) {
    this.#request = Buffer.from(request);
    this.#connections = Array.from(
      { length: connections },
      () =>
        new KeptConnection(
          port,
          (connection, { status }) => {
            this.#counts.response(status, performance.now() - connection.intendedAt);
            this.#onIdle(connection);
          },
          (connection) => {
            this.#counts.failed += 1;
            this.#onIdle(connection);
          },
        ),
    );
  }

  async open(): Promise<void> {
    // No more at once than fit the queue of the server's listener.
    for (let at = 0; at < this.#connections.length; at += 200) {
      await Promise.all(this.#connections.slice(at, at + 200).map((connection) => connection.open()));
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async run({ rate, seconds }: Load): Promise<LoadResult> {
    this.#counts = new Counts();
    this.#idle = this.#connections.filter(({ isBusy }) => !isBusy);
    return rate === undefined ? this.#closedLoop(seconds) : this.#openLoop(rate, seconds);
  }

  async #closedLoop(seconds: number): Promise<LoadResult> {
    const begun = performance.now();
    const end = begun + seconds * 1000;
    const counts = this.#counts;
    const again = (connection: KeptConnection) => {
      const now = performance.now();
      if (now < end) connection.send(this.#request, now);
    };
    this.#onIdle = again;
    for (const connection of this.#idle) again(connection);
    await sleep(end - performance.now());
    const result = counts.result(undefined, seconds, false);
    await this.#settled();
    return result;
  }

  /**
   * Sends each request when its time has come, whatever became of those before. Where no connection is free it waits, and
   * its wait is a part of its latency: omission that is coordinated with the server's pauses is counted.
   */
  async #openLoop(rate: number, seconds: number): Promise<LoadResult> {
    const counts = this.#counts;
    const request = this.#request;
    const total = Math.round(rate * seconds);
    const everyMs = 1000 / rate;
    const begun = performance.now() + 1;
    let sent = 0;
    let idle = this.#idle;
    let nextIdle = 0;
    this.#onIdle = (connection) => idle.push(connection);
    let looked = performance.now();
    let ranOut = false;
    const due = () => {
      const now = performance.now();
      counts.pause.record(nanoseconds(now - looked));
      looked = now;
      for (; sent < total; sent += 1) {
        const intendedAt = begun + sent * everyMs;
        if (intendedAt > now) break;
        const connection = idle[nextIdle];
        if (connection === undefined) {
          ranOut = true;
          break;
        }
        nextIdle += 1;
        connection.send(request, intendedAt);
      }
      if (nextIdle > 4096) {
        idle = idle.slice(nextIdle);
        nextIdle = 0;
      }
    };
    const end = begun + seconds * 1000;
    while (performance.now() < end) {
      due();
      await sleep(1);
    }
    due();
    const inTime = counts.good;
    await this.#settled();
    return {
      ...counts.result(rate, seconds, ranOut),
      goodput: Math.round(inTime / seconds),
      unsent: total - sent,
    };
  }

  async #settled(): Promise<void> {
    this.#onIdle = () => {};
    const end = performance.now() + settleMs;
    while (this.#connections.some(({ isBusy }) => isBusy) && performance.now() < end) await sleep(5);
  }
}

class Counts {
  good = 0;
  refused = 0;
  failed = 0;
  readonly latency = createHistogram();
  readonly refusal = createHistogram();
  readonly pause = createHistogram();

  response(status: number, ms: number): void {
    if (status >= 200 && status < 300) {
      this.good += 1;
      this.latency.record(nanoseconds(ms));
    } else if (status === 503) {
      this.refused += 1;
      this.refusal.record(nanoseconds(ms));
    } else {
      this.failed += 1;
    }
  }

  result(rate: number | undefined, seconds: number, ranOut: boolean): LoadResult {
    const { good, refused, failed } = this;
    return {
      offered: Math.round(rate ?? (good + refused + failed) / seconds),
      goodput: Math.round(good / seconds),
      refused,
      failed,
      unsent: 0,
      latency: percentiles(this.latency),
      refusal: percentiles(this.refusal),
      pause: percentiles(this.pause),
      ranOut,
    };
  }
}

/** As a histogram takes it. */
const nanoseconds = (ms: number) => Math.max(1, Math.round(ms * 1e6));

function percentiles(histogram: RecordableHistogram): Percentiles {
  const ms = (ns: number) => (histogram.count === 0 ? 0 : Math.round(ns / 1e4) / 100);
  return {
    p50: ms(histogram.percentile(50)),
    p99: ms(histogram.percentile(99)),
    p999: ms(histogram.percentile(99.9)),
    max: ms(histogram.max),
  };
}
