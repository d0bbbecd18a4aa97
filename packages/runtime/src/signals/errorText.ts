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

/**
 * Formats an error for operators: the message of an expected error, the stack of any other.
 * @param expectedErrors names of additional expected errors
 */
export function errorText(error: unknown, expectedErrors: readonly string[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = ownErrors.has(error.name) || expectedErrors.includes(error.name);
  return isExpected ? error.message : (error.stack ?? error.message);
}
