/** Errors whose message is for operators. By name: their classes load with what throws them. */
const ownErrors: ReadonlySet<string> = new Set([
  'CertificateError',
  'GatewayError',
  'ListenError',
  'NoBinaryError',
  'StartError',
  'UnclosedStoreError',
]);

/**
 * What an operator reads of an error: its message, or of an unexpected error its stack.
 * @param expectedErrors the names of further errors whose message is for operators
 */
export function errorText(error: unknown, expectedErrors: readonly string[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = ownErrors.has(error.name) || expectedErrors.includes(error.name);
  return isExpected ? error.message : (error.stack ?? error.message);
}
