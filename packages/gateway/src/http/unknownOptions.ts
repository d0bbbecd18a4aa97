/**
 * Returns the names of a type's members. The argument must list all of them, so that a new member cannot be forgotten.
 */
export const memberNames = <Options>(names: Record<keyof Options, true>): readonly string[] =>
  Object.keys(names);

/**
 * Returns a sentence for each property that is not a known option, with the most similar known name.
 * @param owner the function or object that takes the options, such as `createGateway`
 */
export function unknownOptions(owner: string, value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const suggestion = mostSimilar(name, known) ?? containedName(name, known);
      const fix = suggestion === undefined ? 'remove it.' : `did you mean "${suggestion}"?`;
      return `"${name}" is not an option of ${owner}; ${fix}`;
    });
}

/** Returns the only known name that contains the name or is contained in it: `windowSeconds` for `window`. */
function containedName(name: string, known: readonly string[]): string | undefined {
  const text = name.toLowerCase();
  const candidates = known.filter(
    (each) => each.toLowerCase().includes(text) || text.includes(each.toLowerCase()),
  );
  return name.length < 4 || candidates.length !== 1 ? undefined : candidates[0];
}

/** Returns the known name with the smallest edit distance, if at most a third of the letters differ. */
function mostSimilar(name: string, known: readonly string[]): string | undefined {
  let smallestDistance = Math.ceil(name.length / 3);
  let similarName: string | undefined;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance > smallestDistance || (distance === smallestDistance && similarName !== undefined)) continue;
    smallestDistance = distance;
    similarName = candidate;
  }
  return similarName;
}

/** Returns the Levenshtein distance. */
export function editDistance(from: string, to: string): number {
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
