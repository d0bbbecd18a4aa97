import { errorText } from './errorText.ts';

/** The store did not close. The message is a sentence for operators. */
export class UnclosedStoreError extends Error {
  override readonly name = 'UnclosedStoreError';
}

/**
 * Writes what failed to stderr and ends the process with code 1, or by SIGKILL where the store did not close.
 * @param expectedErrors the names of errors of which the message is written, and not the stack
 */
export function endWithFault(error: unknown, expectedErrors?: readonly string[]): void {
  process.stderr.write(`${errorText(error, expectedErrors)}\n`);
  endFor(error);
}

/** The same, where the error has been reported. */
export function endFor(error: unknown): void {
  // A thread of LMDB that waits for the disk, or for a lock, ends for no one: `process.exit` would wait for it for ever
  // (Node joins the threads of libuv's pool), and no JavaScript runs any more that could then do something about it.
  if (error instanceof UnclosedStoreError) process.kill(process.pid, 'SIGKILL');
  // Not `exitCode`: what was opened before the fault would keep the process.
  else process.exit(1);
}
