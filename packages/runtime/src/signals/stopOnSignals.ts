import { endWithFault, UnclosedStoreError } from './endProcess.ts';
import { errorText } from './errorText.ts';

/**
 * npm hands on the signals that it gets, and a Ctrl-C or a service manager reaches npm and this process alike: what
 * follows the first signal within this many milliseconds is the same one again.
 */
const sameSignalMs = 500;

/** How long a stop may take, from the signal to the end of the process, in milliseconds. */
export const stopDeadlineMs = 10_000;

/** How much of that calls in flight may take; the rest is for closing the store. */
export const drainDeadlineMs = 9_000;

/** The same where the store has failed: every call that needs it fails at once. */
const failedDrainMs = 1_000;

/** How much later than its deadline a stop is taken to hang, in milliseconds. */
const graceMs = 1_000;

export interface StopOptions {
  /** How long calls in flight may take, in milliseconds. */
  readonly drainMs: number;
}

/** What a stop ends. */
export interface Stoppable {
  /** Stops in order. */
  close(options: StopOptions): Promise<void>;
  /** Ends at once what would live on without this process. */
  readonly kill?: () => void;
  /** Resolves with the reason when this process cannot serve any more, and should end. */
  readonly failed?: Promise<Error>;
}

export interface StopOnSignalsOptions {
  /** Called when a stop begins. */
  readonly onStop?: () => void;
  /** The names of errors of which the message is written to stderr, and not the stack. */
  readonly expectedErrors?: readonly string[] | undefined;
}

/**
 * SIGTERM and SIGINT stop what runs in order, once it has started, and end the process with 0; a second one ends it at
 * once. What fails while it runs stops as well, and the process ends with 1. A stop ends within `stopDeadlineMs`, also
 * where the disk hangs.
 * @returns stops it as the first signal does
 */
export function stopOnSignals(
  starting: Promise<Stoppable>,
  { onStop, expectedErrors }: StopOnSignalsOptions = {},
): () => void {
  let since: number | undefined;
  let running: Stoppable | undefined;
  void starting.then(
    (started) => {
      running = started;
      void started.failed?.then(stop);
    },
    // The caller that waits for the start reports it.
    () => {},
  );
  // From then on a signal does what the system has it do, also while an exit waits for whoever reads the log.
  const letGo = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  function stop(failure?: Error): void {
    if (since !== undefined) return;
    since = performance.now();
    onStop?.();
    setTimeout(() => {
      running?.kill?.();
      endWithFault(new UnclosedStoreError(`The stop did not end within ${stopDeadlineMs / 1000} s.`));
    }, stopDeadlineMs + graceMs).unref();
    const drainMs = failure === undefined ? drainDeadlineMs : failedDrainMs;
    void starting
      .then((started) => started.close({ drainMs }))
      .finally(letGo)
      .then(
        () => (failure === undefined ? process.exit(0) : endWithFault(failure, expectedErrors)),
        (error: unknown) => {
          if (failure !== undefined) process.stderr.write(`${errorText(failure, expectedErrors)}\n`);
          endWithFault(error, expectedErrors);
        },
      );
  }
  function onSignal(signal: NodeJS.Signals): void {
    if (since === undefined) stop();
    else if (performance.now() - since > sameSignalMs) {
      letGo();
      running?.kill?.();
      process.kill(process.pid, signal);
    }
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return () => stop();
}
