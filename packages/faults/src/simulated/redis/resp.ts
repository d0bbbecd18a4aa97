// The protocol of Redis, RESP 2. Words and replies have a character for each byte.

/** A reply to a command; `null` is nil. No command of the product gets an error: one is an error of the model. */
export type Reply = number | string | null | readonly Reply[];

/** Parses commands, each of which is a list of words. */
export function parseCommands(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let at = 0;
  const readLength = () => {
    const end = text.indexOf('\r\n', at);
    const length = Number(text.slice(at + 1, end));
    at = end + 2;
    return length;
  };
  while (at < text.length)
    commands.push(
      Array.from({ length: readLength() }, () => {
        const length = readLength();
        const word = text.slice(at, at + length);
        at += length + 2;
        return word;
      }),
    );
  return commands;
}

export function formatReply(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  return `*${reply.length}\r\n${reply.map(formatReply).join('')}`;
}

export function integer(word = ''): number {
  if (/^-?\d{1,19}$/.test(word)) return Number(word);
  throw new Error(`${word} is not an integer.`);
}
