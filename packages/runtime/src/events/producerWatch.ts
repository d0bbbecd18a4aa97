import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from './eventLog.ts';

/** How often a process with runs reports that it is alive, in milliseconds. */
const aliveMs = 500;

/** A process that has not reported for this time is lost, in milliseconds. With `checkMs` less than 2 s. */
const lostMs = 1500;
const checkMs = 250;

interface ProducerWatchOptions {
  readonly log: EventLog;
  readonly name: string;
  readonly processId: string;
  /** Records that the process of a run is lost. If it rejects, it is called again later. */
  readonly onLost: (key: string) => Promise<unknown>;
}

interface WatchedProcess {
  /** How many readers each run has. */
  readonly readers: Map<string, number>;
  readonly stop: () => void;
}

/** Reports to other processes that this one is alive, while it has runs, and notices when another one with runs is not. */
export class ProducerWatch {
  readonly #options: ProducerWatchOptions;
  readonly #watched = new Map<string, WatchedProcess>();
  #runs = 0;
  #reports: NodeJS.Timeout | undefined = undefined;

  constructor(options: ProducerWatchOptions) {
    this.#options = options;
  }

  /** A run of this process begins. */
  begin(): void {
    this.#runs += 1;
    this.#reports ??= setInterval(() => this.#report(), aliveMs).unref();
  }

  /** A run of this process has ended. */
  end(): void {
    this.#runs -= 1;
    if (this.#runs > 0) return;
    clearInterval(this.#reports);
    this.#reports = undefined;
  }

  /** Watches the process of a run until the returned function is called. */
  watch(processId: string, key: string): () => void {
    if (processId === this.#options.processId) return () => {};
    const { readers, stop } = this.#watched.get(processId) ?? this.#start(processId);
    readers.set(key, (readers.get(key) ?? 0) + 1);
    return () => {
      const left = (readers.get(key) ?? 0) - 1;
      if (left > 0) readers.set(key, left);
      else readers.delete(key);
      if (readers.size > 0) return;
      stop();
      this.#watched.delete(processId);
    };
  }

  #start(processId: string): WatchedProcess {
    const { onLost } = this.#options;
    const controller = new AbortController();
    const readers = new Map<string, number>();
    let seenAt = performance.now();
    let checkedAt = seenAt;
    void this.#follow(processId, controller.signal, () => (seenAt = performance.now()));
    const timer = setInterval(() => {
      const now = performance.now();
      // This process itself was suspended or busy: reports may wait to be read.
      if (now - checkedAt > 2 * checkMs) seenAt = now;
      checkedAt = now;
      if (now - seenAt < lostMs) return;
      seenAt = now;
      for (const key of readers.keys()) onLost(key).catch(() => {});
    }, checkMs).unref();
    const stop = () => {
      clearInterval(timer);
      controller.abort();
    };
    const watched = { readers, stop };
    this.#watched.set(processId, watched);
    return watched;
  }

  /** Reads the reports of a process. It never rejects. */
  async #follow(processId: string, signal: AbortSignal, onReport: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- again if the log could not be reached
        for await (const _ of this.#options.log.read(this.#channelOf(processId), undefined, signal))
          onReport();
      } catch {
        // oxlint-disable-next-line no-await-in-loop -- the log may be back then
        await sleep(checkMs, undefined, { ref: false });
      }
    }
  }

  #report(): void {
    const { log, processId } = this.#options;
    log.append(this.#channelOf(processId), '', { events: 1, ms: 60_000 }).catch(() => {});
  }

  #channelOf(processId: string): string {
    return `${this.#options.name}!${processId}`;
  }
}
