/**
 * Reads a count from the command line or from an environment variable.
 * @param name what the message calls it, such as `ROUNDS`
 * @throws for anything else than a positive integer: a typo would test nothing, and pass
 */
export function countArgument(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw new Error(
      `${name} is ${JSON.stringify(text)}. It must be a positive integer, such as ${otherwise}.`,
    );
  }
  return Number(text);
}
