/** Errors whose message is for whoever starts the process. By name: their classes load with what throws them. */
const forPeople = new Set([
  'CertificateError',
  'CommandError',
  'ConfigurationError',
  'GatewayError',
  'ListenError',
  'StoreError',
  'UnclosedStoreError',
]);

/** What whoever started the process is told of what it failed with: a sentence, or, of what nobody expected, its stack. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return forPeople.has(error.name) ? error.message : (error.stack ?? error.message);
}
