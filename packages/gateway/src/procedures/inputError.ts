import { TRPCError } from '@trpc/server';
import { isZod } from './isZod.ts';

/** One thing that is wrong with an input. */
export interface InputIssue {
  /** Where: empty for the input as a whole. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** zod's code, such as `invalid_type` or `too_small`. `undefined` for an issue of another library. */
  readonly code?: string | undefined;
  /** What else zod says of it, by its code: `expected`, `minimum`, `format`, `values` and others. */
  readonly [detail: string]: unknown;
}

const mostIssues = 20;

/** What the REST wire itself found wrong with an input, as the error a procedure's own schema would give. */
class InputIssues extends Error {
  readonly issues: readonly InputIssue[];
  constructor(issues: readonly InputIssue[]) {
    super(inWords(issues));
    this.issues = issues;
  }
}

/** A `BAD_REQUEST` that names each offending field. */
export function inputError(issues: readonly InputIssue[]): TRPCError {
  return new TRPCError({ code: 'BAD_REQUEST', cause: new InputIssues(issues) });
}

/**
 * The issues behind an error: zod's and the wire's own whole; of any other Standard Schema library the path and the
 * message, since the rest may hold the input. They all keep them in `issues`.
 * @returns an empty list where the error is not about an input
 */
export function issuesOf(error: TRPCError): readonly InputIssue[] {
  const { cause } = error;
  if (error.code !== 'BAD_REQUEST' || cause === undefined || !('issues' in cause)) return [];
  if (!Array.isArray(cause.issues)) return [];
  return cause instanceof InputIssues || isZod(cause)
    ? (cause.issues as readonly InputIssue[])
    : cause.issues.map(toIssue);
}

function toIssue(issue: { path?: readonly unknown[]; message: string }): InputIssue {
  // A Standard Schema path holds keys, or objects with a key.
  const path = (issue.path ?? []).map((segment) =>
    typeof segment === 'object' && segment !== null && 'key' in segment ? segment.key : segment,
  );
  return { path: path as PropertyKey[], message: issue.message };
}

/** A sentence that names each field and what is wrong with it. */
export function inWords(issues: readonly InputIssue[]): string {
  const named = issues.slice(0, mostIssues).map(({ path, message }) => {
    const field = path.length === 0 ? 'input' : path.map(String).join('.');
    return `${field}: ${inOurWords(message)}`;
  });
  const rest = issues.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

/** zod's messages, told as the wire tells its own; a message that somebody wrote is left as it is. */
const wordings: readonly (readonly [RegExp, string | ((whole: string, ...parts: string[]) => string)])[] = [
  [/^Invalid input: expected \w+, received undefined$/, 'is required'],
  [/^Invalid input: expected int, received number$/, 'must be an integer'],
  [/^Invalid input: expected date, received .+$/, 'must be a date-time (RFC 3339)'],
  [/^Invalid input: expected (\w+), received (.+)$/, 'must be of the type $1, not $2'],
  [
    /^Invalid option: expected one of (.+)$/,
    (_whole, options) => `must be one of ${options?.replaceAll('|', ', ')}`,
  ],
  [/^Too small: expected \w+ to be >=(.+)$/, 'must be at least $1'],
  [/^Too big: expected \w+ to be <=(.+)$/, 'must be at most $1'],
];

function inOurWords(message: string): string {
  // The two forms of `replace` are typed apart, and a table holds both.
  for (const [pattern, words] of wordings) {
    if (pattern.test(message)) return message.replace(pattern, words as string);
  }
  return message;
}
