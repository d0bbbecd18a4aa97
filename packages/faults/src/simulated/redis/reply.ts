/** A reply to a command; `null` is nil. */
export type Reply = number | string | null | readonly Reply[];

/** An error reply, as clients reject with it. */
export class ErrorReply extends Error {}

/** Reads an integer. */
export function integer(word = ''): number {
  if (/^-?\d{1,19}$/.test(word)) return Number(word);
  throw new ErrorReply('ERR value is not an integer or out of range');
}
