import type { Server } from './app.ts';

/**
 * npm hands on the signals that it gets, and a Ctrl-C or a service manager reaches npm and this process alike: what
 * follows the first signal within this many milliseconds is the same one again.
 */
const sameSignalMs = 500;

/** How long calls in flight may take once the process is told to stop, in milliseconds. */
export const drainDeadlineMs = 10_000;

/** What a stop ends. */
export interface Stoppable extends Pick<Server, 'close'> {
  /** Ends at once what would live on without this process. */
  readonly kill?: () => void;
}

/**
 * SIGTERM and SIGINT stop what runs in order, once it has started, and end the process with 0; a second one ends it at
 * once.
 * @param onStop called with the first one
 * @returns stops it as the first one does
 */
export function stopOnSignals(starting: Promise<Stoppable>, onStop?: () => void): () => void {
  let since: number | undefined;
  let running: Stoppable | undefined;
  void starting.then(
    (started) => (running = started),
    // Whoever waits for the start tells of it.
    () => {},
  );
  // From then on a signal does what the system has it do, also while an exit waits for whoever reads the log.
  const letGo = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const stop = () => {
    if (since !== undefined) return;
    since = performance.now();
    onStop?.();
    void starting
      .then((started) => started.close())
      .finally(letGo)
      .then(() => process.exit(0), failed);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (since === undefined) stop();
    else if (performance.now() - since > sameSignalMs) {
      letGo();
      running?.kill?.();
      process.kill(process.pid, signal);
    }
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return stop;
}

function failed(error: unknown): void {
  process.stderr.write(`The stop failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
