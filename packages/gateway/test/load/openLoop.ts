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
  /** The intended requests/s. In a closed loop, the requests/s that were sent. */
  readonly offered: number;
  /** 2xx responses/s. */
  readonly goodput: number;
  /** The number of 503 responses. */
  readonly rejected: number;
  /** Responses that are neither 2xx nor 503, and connections that closed before their response. */
  readonly failures: number;
  /** Requests that were not sent, because no connection was free until the end. */
  readonly unsent: number;
  /** Of 2xx responses, from the intended time of the request. */
  readonly latency: Percentiles;
  /** Of 503 responses, from the intended time of the request. */
  readonly rejectionLatency: Percentiles;
  /** The pauses of the generator between two readings of its clock. They limit the accuracy of the latencies. */
  readonly pause: Percentiles;
  /** Whether at some time no connection was free, so that requests waited at the client. */
  readonly ranOut: boolean;
}

export interface Load {
  /** Requests/s. `undefined` selects a closed loop: each connection sends its next request after the response. */
  readonly rate: number | undefined;
  readonly seconds: number;
}

/** How long to wait for outstanding responses, in milliseconds. */
const settleMs = 1000;

/** Sends requests to one server, on connections that stay open for all runs. */
export class OpenLoop {
  readonly #request: Buffer;
  readonly #connections: KeptConnection[];
  /** Connections without a request in flight, least recently used first. */
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
            this.#counts.failures += 1;
            this.#onIdle(connection);
          },
        ),
    );
  }

  async open(): Promise<void> {
    // Not more at once than fit the accept queue of the server.
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
    const sendNext = (connection: KeptConnection) => {
      const now = performance.now();
      if (now < end) connection.send(this.#request, now);
    };
    this.#onIdle = sendNext;
    for (const connection of this.#idle) sendNext(connection);
    await sleep(end - performance.now());
    const result = counts.result(undefined, seconds, false);
    await this.#waitForResponses();
    return result;
  }

  /**
   * Sends each request at its intended time, regardless of earlier responses. If no connection is free, the request
   * waits and the wait counts as latency. This avoids coordinated omission.
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
    let lastReading = performance.now();
    let ranOut = false;
    const sendDue = () => {
      const now = performance.now();
      counts.pause.record(nanoseconds(now - lastReading));
      lastReading = now;
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
      sendDue();
      await sleep(1);
    }
    sendDue();
    const goodInTime = counts.good;
    await this.#waitForResponses();
    return {
      ...counts.result(rate, seconds, ranOut),
      goodput: Math.round(goodInTime / seconds),
      unsent: total - sent,
    };
  }

  async #waitForResponses(): Promise<void> {
    this.#onIdle = () => {};
    const end = performance.now() + settleMs;
    while (this.#connections.some(({ isBusy }) => isBusy) && performance.now() < end) await sleep(5);
  }
}

class Counts {
  good = 0;
  rejected = 0;
  failures = 0;
  readonly latency = createHistogram();
  readonly rejectionLatency = createHistogram();
  readonly pause = createHistogram();

  response(status: number, ms: number): void {
    if (status >= 200 && status < 300) {
      this.good += 1;
      this.latency.record(nanoseconds(ms));
    } else if (status === 503) {
      this.rejected += 1;
      this.rejectionLatency.record(nanoseconds(ms));
    } else {
      this.failures += 1;
    }
  }

  result(rate: number | undefined, seconds: number, ranOut: boolean): LoadResult {
    const { good, rejected, failures } = this;
    return {
      offered: Math.round(rate ?? (good + rejected + failures) / seconds),
      goodput: Math.round(good / seconds),
      rejected,
      failures,
      unsent: 0,
      latency: percentiles(this.latency),
      rejectionLatency: percentiles(this.rejectionLatency),
      pause: percentiles(this.pause),
      ranOut,
    };
  }
}

/** Converts milliseconds to the positive integer that a histogram accepts. */
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
