/** Thrown for a measurement that is impossible on this machine; the message says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}
