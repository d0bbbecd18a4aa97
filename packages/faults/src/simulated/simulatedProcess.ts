import { AsyncLocalStorage } from 'node:async_hooks';

/** A process of the simulated service. Killed, it loses its memory: what it still does has no effect on anything outside. */
export class SimulatedProcess {
  readonly name: string;
  isAlive = true;
  readonly #listeners = new Set<() => void>();

  /** @param name the first segment of the paths that it opens: those of `p1` begin with `/p1/` */
  constructor(name: string) {
    this.name = name;
  }

  kill(): void {
    this.isAlive = false;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Calls a listener when the process is killed. @returns a function that removes it */
  whenKilled(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

const running = new AsyncLocalStorage<SimulatedProcess | undefined>();

/** Runs code of a process. On the virtual clock, its timers do nothing once it was killed. */
export const runIn = <T>(process: SimulatedProcess | undefined, code: () => T): T =>
  running.run(process, code);

/** Runs code of what is outside of all processes, such as a disk or a server, which goes on when they are killed. */
export const runOutside = <T>(code: () => T): T => running.run(undefined, code);

/** Returns the process whose code runs; `undefined` outside of all. */
export const runningProcess = (): SimulatedProcess | undefined => running.getStore();
