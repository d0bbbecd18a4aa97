// An error of a schema may be far larger than its input: each issue of a list repeats its path, and the issues of a
// recursive union share their children, which `message` writes out once for each path to them (zod 4.6.7: 427
// bytes of input took more than 20 s). So issues are measured and cut before anything reads `message`.

/** Largest size of a zod error, in characters of its `message`: some 500 issues with a short path. */
const maxIssueCharacters = 65_536;

/** Largest number of issues of another library, whose `message` does not list them. */
const maxIssues = 1000;

/** Number of issues that a message names. These are kept in any case, shortened if necessary. */
export const namedIssues = 20;

/** Longest text in a shortened issue, in characters. */
const maxShortText = 200;

/** A member of the last issue of a list that was cut: the number of the missing issues. */
const omittedIssues = Symbol('omittedIssues');

/** Returns how many issues are missing in a list, which its last issue says. `undefined` for a complete list. */
export function omittedFrom(issues: readonly object[]): number | undefined {
  const last: { readonly [omittedIssues]?: number } | undefined = issues.at(-1);
  return last?.[omittedIssues];
}

/**
 * Cuts the issues of an error in place if they are too large, so that its `message` and functions such as
 * `z.flattenError` and `z.treeifyError` are cheap. Other errors stay as they are.
 * @returns whether issues were omitted or shortened
 */
export function boundIssues(error: unknown): boolean {
  const issues = error instanceof Error && 'issues' in error ? error.issues : undefined;
  if (!Array.isArray(issues) || Object.isFrozen(issues)) return false;
  const isZodError = /^\$?ZodError$/.test((error as Error).name);
  const kept: unknown[] = [];
  let isShortened = false;
  let left = isZodError ? maxIssueCharacters : maxIssues;
  for (const issue of issues as readonly unknown[]) {
    const next = isZodError ? textLeft(issue, left, 1) : left - 1;
    if (next < 0 && kept.length >= namedIssues) break;
    if (next < 0) isShortened = true;
    else left = next;
    kept.push(next < 0 ? shortIssue(issue) : issue);
  }
  const omitted = issues.length - kept.length;
  if (omitted === 0 && !isShortened) return false;
  if (omitted > 0) {
    const message = `${omitted} more issues are not listed`;
    kept.push({ code: 'custom', path: [], message, [omittedIssues]: omitted });
  }
  issues.splice(0, issues.length, ...kept);
  return true;
}

/**
 * Returns how much of a budget the text of a value leaves. It stops when nothing is left, so that its cost does not
 * depend on the value.
 * @param depth the depth of the value, since zod's `message` is indented
 */
function textLeft(value: unknown, budget: number, depth: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  let left = budget - 2 * depth - 8;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1) {
      left = textLeft(value[index], left, depth + 1);
    }
    return left;
  }
  for (const [name, member] of Object.entries(value)) {
    if (left < 0) break;
    left = textLeft(member, left - name.length - 4 - 2 * depth, depth + 1);
  }
  return left;
}

/** Returns an issue with short texts and a short path, and without nested issues and values. */
function shortIssue(issue: unknown): unknown {
  if (typeof issue !== 'object' || issue === null) return shortText(issue);
  return Object.fromEntries(
    Object.entries(issue).map(([name, member]: [string, unknown]) => {
      if (!Array.isArray(member)) return [name, typeof member === 'object' ? null : shortText(member)];
      return [name, name === 'path' ? member.slice(0, namedIssues).map(shortText) : []];
    }),
  );
}

const shortText = (value: unknown) =>
  typeof value === 'string' && value.length > maxShortText ? `${value.slice(0, maxShortText)}…` : value;
