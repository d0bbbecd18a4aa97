/** Thrown if the process cannot start. Its message is written for operators and printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Thrown if the store did not close in time. Its message is written for operators. */
export class UnclosedStoreError extends Error {
  override readonly name = 'UnclosedStoreError';
}

/** Errors with a message for operators. Identified by name, because importing the classes would load their modules. */
const ownErrors: ReadonlySet<string> = new Set([
  'CertificateError',
  'FolderError',
  'GatewayError',
  'ListenError',
  'NoBinaryError',
  'StartError',
  'UnclosedStoreError',
]);

/** Formats an error: the message if it is expected, else the stack. @param expectedErrors additional names */
export function errorText(error: unknown, expectedErrors: readonly string[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = ownErrors.has(error.name) || expectedErrors.includes(error.name);
  return isExpected ? error.message : (error.stack ?? error.message);
}

/**
 * Prints an error to stderr and ends the process with exit code 1, or by SIGKILL for an `UnclosedStoreError`.
 * @param expectedErrors names of errors that are printed as their message only, without the stack
 */
export function endWithError(error: unknown, expectedErrors?: readonly string[]): never {
  process.stderr.write(`${errorText(error, expectedErrors)}\n`);
  return endProcess(error);
}

/** Ends the process like `endWithError`, without printing the error. */
export function endProcess(error: unknown): never {
  // An LMDB thread that waits for the disk or for a lock cannot be interrupted. `process.exit` joins the threads of libuv's
  // pool and would wait for it forever, at a point where JavaScript no longer runs.
  if (error instanceof UnclosedStoreError) process.kill(process.pid, 'SIGKILL');
  // Not `exitCode`: resources that are still open would keep the process alive.
  process.exit(1);
}
