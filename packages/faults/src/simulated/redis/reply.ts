/** A reply to a command; `null` is nil. */
export type Reply = number | string | null | StatusReply | readonly Reply[];

/** A reply such as OK, which is a table in scripts. */
export class StatusReply {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An error reply, as clients reject with it. */
export class ErrorReply extends Error {}

/** Reads an integer. */
export function integer(word = ''): number {
  if (/^-?\d{1,19}$/.test(word)) return Number(word);
  throw new ErrorReply('ERR value is not an integer or out of range');
}
