/** The names of a type's members, so that none can be forgotten. */
export const memberNames = <Options>(names: Record<keyof Options, true>): readonly string[] =>
  Object.keys(names);

/**
 * A sentence for each property of an object that is not one of the known names, with the known name that is nearest.
 * @param owner what the names belong to, such as `createGateway`
 */
export function unknownOptions(owner: string, value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearest(name, known) ?? containing(name, known);
      const fix = near === undefined ? 'leave it out.' : `did you mean "${near}"?`;
      return `"${name}" is not an option of ${owner}; ${fix}`;
    });
}

/** The one known name that a name is a part of, or that is a part of it: `window` of `windowSeconds`. */
function containing(name: string, known: readonly string[]): string | undefined {
  const text = name.toLowerCase();
  const found = known.filter(
    (each) => each.toLowerCase().includes(text) || text.includes(each.toLowerCase()),
  );
  return name.length < 4 || found.length !== 1 ? undefined : found[0];
}

/** The known name with the least edits, if a third of its letters or fewer differ. */
function nearest(name: string, known: readonly string[]): string | undefined {
  let least = Math.ceil(name.length / 3);
  let found: string | undefined;
  for (const candidate of known) {
    const distance = edits(name.toLowerCase(), candidate.toLowerCase());
    if (distance > least || (distance === least && found !== undefined)) continue;
    least = distance;
    found = candidate;
  }
  return found;
}

/** The Levenshtein distance. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of Array.from(from).entries()) {
    const next = [at + 1];
    for (let index = 0; index < to.length; index += 1) {
      const replaced = (row[index] ?? 0) + (letter === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
