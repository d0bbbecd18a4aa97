let written: Set<string> | undefined;

/** Writes each sentence once from now on, for a program that creates its gateway again. */
export function warnOnce(): void {
  written = new Set();
}

/** Warns on stderr: the service runs, but not all as its author may expect. `details`: such as the error. */
export function warn(sentence: string, ...details: readonly unknown[]): void {
  if (written?.has(sentence)) return;
  written?.add(sentence);
  // oxlint-disable-next-line no-console -- it is of no request, so none of the hooks receives it
  console.error(`trpc-gateway: ${sentence}`, ...details);
}

/** The most names in a line. */
const maxNames = 10;

/** Lists names for a line, of which one problem may have hundreds. */
export function listNames(names: readonly string[]): string {
  const more = names.length - maxNames;
  return more > 0 ? `${names.slice(0, maxNames).join(', ')} and ${more} more` : names.join(', ');
}
