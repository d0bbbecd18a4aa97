/** Why a procedure cannot be served over REST, in words that follow its name or the name of a part. */
export class Unservable extends Error {}

/** @throws {Unservable} */
export function reject(why: string): never {
  throw new Unservable(why);
}
