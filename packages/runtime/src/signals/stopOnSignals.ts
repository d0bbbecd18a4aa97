import { isatty } from 'node:tty';
import { endWithError, errorText, UnclosedStoreError } from './endProcess.ts';

/** A signal within this time is a duplicate: Ctrl-C signals npm and this process, and npm forwards it. */
const duplicateSignalMs = 500;

/** Logged on SIGHUP, which service managers send to reload a configuration, by a service that has none to reload. */
export const hangupIgnored = 'SIGHUP is ignored: it reloads the certificate, and this service has no TLS';

/** How long a shutdown may take, from the signal to the end of the process, in milliseconds. */
export const stopDeadlineMs = 10_000;

/** How long calls in flight may take during a shutdown, in milliseconds. The rest is for closing the store. */
export const drainDeadlineMs = 9_000;

/** Shorter drain after a fatal error, when every call that needs the store fails immediately. */
const failedDrainMs = 1_000;

/** How long after its deadline a shutdown counts as hanging. */
const hangGraceMs = 1_000;

export interface StopOptions {
  /** How long calls in flight may take, in milliseconds. */
  readonly drainMs: number;
}

export interface Stoppable {
  /** Rejects if the service cannot start. It can be stopped meanwhile. Default: it has started. */
  readonly started?: Promise<void>;
  /** Stops gracefully. */
  close(options: StopOptions): Promise<void>;
  /** Immediately ends child processes that would outlive this process. */
  readonly kill?: () => void;
  /** Called on SIGHUP, unless the process was started on a terminal. */
  readonly onHangup?: () => void;
  /** Resolves with the error after which this process can no longer serve and should end. */
  readonly fatalError?: Promise<Error>;
}

export interface StopOnSignalsOptions {
  /** Called when a shutdown starts. */
  readonly onStop?: () => void;
  /** Names of errors that are printed to stderr as their message only, without the stack. */
  readonly expectedErrors?: readonly string[] | undefined;
}

/**
 * Stops a service on SIGTERM or SIGINT, also one that is still starting, with exit code 0. A second signal ends it
 * immediately. A fatal error stops it with exit code 1. It ends within `stopDeadlineMs`, even if the disk hangs. SIGHUP calls
 * `onHangup`; on a terminal, whose end it reports, it has its default effect.
 * @returns a function that stops the service like the first signal
 */
export function stopOnSignals(
  starting: Promise<Stoppable>,
  { onStop, expectedErrors }: StopOnSignalsOptions = {},
): () => void {
  let stopStartedAt: number | undefined;
  let running: Stoppable | undefined;
  void starting.then(
    (started) => {
      running = started;
      void started.fatalError?.then(stop);
    },
    // The caller that waits for the start reports it.
    () => {},
  );
  // Afterwards signals have their default effect, even while the exit waits for the reader of the log.
  const removeListeners = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  function stop(fatalError?: Error): void {
    if (stopStartedAt !== undefined) return;
    stopStartedAt = performance.now();
    onStop?.();
    setTimeout(() => {
      running?.kill?.();
      endWithError(new UnclosedStoreError(`The service did not stop within ${stopDeadlineMs / 1000} s.`));
    }, stopDeadlineMs + hangGraceMs).unref();
    const drainMs = fatalError === undefined ? drainDeadlineMs : failedDrainMs;
    void starting
      .then((started) => started.close({ drainMs }))
      .finally(removeListeners)
      .then(
        () => (fatalError === undefined ? process.exit(0) : endWithError(fatalError, expectedErrors)),
        (error: unknown) => {
          if (fatalError !== undefined) process.stderr.write(`${errorText(fatalError, expectedErrors)}\n`);
          endWithError(error, expectedErrors);
        },
      );
  }
  function onSignal(signal: NodeJS.Signals): void {
    if (stopStartedAt === undefined) stop();
    else if (performance.now() - stopStartedAt > duplicateSignalMs) {
      removeListeners();
      running?.kill?.();
      process.kill(process.pid, signal);
    }
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  // Stays until the end: without a listener, the signal would end a process that starts or drains. On a terminal it means
  // that this was closed, and ends the process, which its user expects.
  if (!isatty(0)) process.on('SIGHUP', () => running?.onHangup?.());
  return () => stop();
}
