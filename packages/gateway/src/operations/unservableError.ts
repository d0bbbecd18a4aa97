/**
 * A procedure that cannot be served over REST. The message is the end of a sentence about the procedure or a part of
 * it.
 */
export class UnservableError extends Error {}

/** @throws {UnservableError} */
export function reject(why: string): never {
  throw new UnservableError(why);
}
