/** Writes a line to stderr at start: the service runs, but not all of it as its author may expect. */
export function warn(sentence: string): void {
  // oxlint-disable-next-line no-console -- there is no request yet, so none of the hooks receives it
  console.error(`trpc-gateway: ${sentence}`);
}

/** The most names in a line. */
const maxNames = 10;

/** Lists names for a line, of which one problem may have hundreds. */
export function listNames(names: readonly string[]): string {
  const more = names.length - maxNames;
  return more > 0 ? `${names.slice(0, maxNames).join(', ')} and ${more} more` : names.join(', ');
}
