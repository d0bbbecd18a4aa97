import { fileURLToPath } from 'node:url';
import { type FaultProxy, startFaultProxy } from '@petstore/testing/redis';
import { freePort } from '@petstore/testing/freePort';
import { runtimes } from '@petstore/testing/runtimes';
import { listening, logLines, type RunningService, startService } from '@petstore/testing/serviceProcess';
import type { ProcessOptions } from './storage.ts';

const program = fileURLToPath(new URL('serviceProcess.ts', import.meta.url));

let bun: string | undefined;
const runtimeOf = (server: ProcessOptions['server']): string =>
  server === 'bun' ? (bun ??= runtimes()['bun'] ?? 'bun') : process.execPath;

/** Number of turns of the event loop after which a process has what clients had sent before: they and the proxies take some turns each. */
const sendingTurns = 100;

/** How long a process takes at most to stop, in milliseconds: 10 s, and more on a machine that it shares. */
const stopMs = 20_000;

/** A place for a process: the one that runs there, and the proxy in front of it. */
export interface Place {
  readonly proxy: FaultProxy;
  readonly options: ProcessOptions;
  started: Started | undefined;
}

/** A process from its start to its end. */
export interface Started {
  readonly place: Place;
  /** The port of its proxy. */
  readonly port: number;
  readonly service: RunningService;
  /** When clients no longer chose it, before SIGTERM: the process has all that they had sent, and answers it. */
  stoppedAt: number | undefined;
  isSuspended: boolean;
}

/** Returns at most 30 errors that processes logged or printed, and how often each, with at most 600 characters. */
export function writtenErrors(written: Processes['written']): readonly string[] {
  const logged = written.flatMap(logLines).filter(({ level }) => Number(level) >= 40);
  const errors = logged.map(({ err, msg, reason, status }) =>
    [msg, status, reason, (err as Error | undefined)?.message].filter(Boolean).join(' '),
  );
  const printed = written.flatMap(({ stderr }) => stderr().split('\n')).filter(Boolean);
  const byText = Map.groupBy([...errors, ...printed], (text) => text);
  return Array.from(byText, ([text, { length }]) => `${length} times: ${text}`.slice(0, 600)).slice(0, 30);
}

export class Processes {
  readonly places: Place[] = [];
  readonly written: Pick<RunningService, 'stderr' | 'stdout'>[] = [];
  readonly #mayEnd: boolean;
  readonly #problems: string[] = [];
  #isEnding = false;

  /** @param mayEnd whether a process may end by itself, and is started again */
  private constructor(mayEnd: boolean) {
    this.#mayEnd = mayEnd;
  }

  /** @param optionsAt returns the options of the process of a place */
  static async open(
    count: number,
    optionsAt: (at: number) => Omit<ProcessOptions, 'port'>,
    mayEnd = false,
  ): Promise<Processes> {
    const processes = new Processes(mayEnd);
    for (let at = 0; at < count; at += 1) {
      const port = await freePort();
      const proxy = await startFaultProxy(`http://127.0.0.1:${port}`);
      processes.places.push({ proxy, options: { ...optionsAt(at), port }, started: undefined });
    }
    await Promise.all(processes.places.map((place) => processes.start(place)));
    return processes;
  }

  /** Those that clients can reach. */
  get reachable(): readonly Started[] {
    return this.places.flatMap(({ started }) => started ?? []);
  }

  /** Starts a process in its place, again and again until it serves: what it shares may be away. */
  async start(place: Place): Promise<void> {
    const { options, proxy } = place;
    const runtime = runtimeOf(options.server);
    while (!this.#isEnding && place.started === undefined) {
      const starting = startService(runtime, [program, JSON.stringify(options)], { env: process.env });
      this.written.push(starting);
      const service = await listening(starting).catch(() => undefined);
      if (service === undefined) continue;
      const port = Number(new URL(proxy.uri).port);
      const started: Started = { place, port, service, stoppedAt: undefined, isSuspended: false };
      place.started = started;
      void service.exited.then((exit) => {
        if (place.started !== started) return;
        place.started = undefined;
        if (this.#mayEnd) void this.start(place);
        else
          this.#problems.push(`A process has ended by itself: ${JSON.stringify(exit)} ${service.stderr()}`);
      });
    }
  }

  /** Ends a process (SIGKILL). */
  async kill({ place, service }: Started): Promise<void> {
    place.started = undefined;
    service.child.kill('SIGKILL');
    await service.exited;
  }

  /** Stops a process (SIGTERM), which serves what it has received. */
  async stop(started: Started): Promise<void> {
    const { place, service } = started;
    place.started = undefined;
    started.stoppedAt = performance.now();
    for (let turns = 0; turns < sendingTurns; turns += 1) await new Promise(setImmediate);
    const signalledAt = performance.now();
    const { code, signal } = await service.stop();
    const tookMs = performance.now() - signalledAt;
    if (tookMs > stopMs) this.#problems.push(`A process took ${Math.round(tookMs)} ms to stop.`);
    if (code !== 0 && !this.#mayEnd)
      this.#problems.push(`A process has stopped with ${signal ?? code}: ${service.stderr()}`);
  }

  /** A connection has ended before its response. */
  lost({ stoppedAt = -Infinity }: Started, sentAt: number, what: string): void {
    if (sentAt < stoppedAt) this.#problems.push(`${what} was lost while its process stopped.`);
  }

  /** Stops all. @returns what has gone wrong */
  async end(): Promise<readonly string[]> {
    this.#isEnding = true;
    await Promise.all(this.reachable.map((started) => this.stop(started)));
    await Promise.all(this.places.map(({ proxy }) => proxy.close()));
    return this.#problems;
  }
}
