import type { Server } from './app.ts';

/**
 * npm hands on the signals that it gets, and a Ctrl-C or a service manager reaches npm and this process alike: what
 * follows the first signal within this many milliseconds is the same one again.
 */
const sameSignalMs = 500;

/**
 * SIGTERM and SIGINT stop the server in order, once it has started, and end the process with 0; a second one ends it at
 * once.
 */
export function stopOnSignals(starting: Promise<Pick<Server, 'close'>>): void {
  let since: number | undefined;
  // From then on a signal does what the system has it do, also while an exit waits for whoever reads the log.
  const letGo = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const onSignal = (signal: NodeJS.Signals) => {
    if (since === undefined) {
      since = performance.now();
      void starting
        .then((server) => server.close())
        .finally(letGo)
        .then(() => process.exit(0), failed);
    } else if (performance.now() - since > sameSignalMs) {
      letGo();
      process.kill(process.pid, signal);
    }
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

function failed(error: unknown): void {
  process.stderr.write(`The stop failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
