import { TRPCError } from '@trpc/server';
import { util } from 'zod/v4/core';
import english from 'zod/v4/locales/en.js';
import { boundIssues, namedIssues, omittedFrom } from './boundedIssues.ts';
import { codeMessage } from './errorCodes.ts';
import { isZod, type StandardIssue } from './standardSchema.ts';

/** One problem with an input. */
export interface InputIssue {
  /** The path of the field; empty for the input as a whole. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** zod's code, such as `invalid_type` or `too_small`. `undefined` for an issue of another library. */
  readonly code?: string | undefined;
  /** Over REST, the part of the request that carries the property, if the metadata sets it (`in`). */
  readonly place?: { readonly in: string; readonly name: string } | undefined;
  /** Further members of zod's issue, depending on the code: `expected`, `minimum`, `format`, `values` and others. */
  readonly [detail: string]: unknown;
}

/** Issues that the gateway detected in an input. They are reported like those of a procedure's schema. */
class InputIssues extends Error {
  readonly issues: readonly InputIssue[];
  constructor(issues: readonly InputIssue[]) {
    super(formatIssues(issues));
    this.issues = issues;
  }
}

/** Creates a `BAD_REQUEST` error that names each invalid field. */
export function inputError(issues: readonly InputIssue[]): TRPCError {
  return new TRPCError({ code: 'BAD_REQUEST', cause: new InputIssues(issues) });
}

/** Largest number of issues that are converted from another library's. */
const maxConverted = 1001;

/** Longest message that a schema library may give an error, in characters. */
const maxMessageLength = 65_536;

/**
 * Converts the error of an input parser to the error of the call. As in tRPC, its message is that of the cause, for zod
 * the JSON of all issues; if that is too large, a sentence that names the first issues, or the code as text.
 */
export function inputFailure(cause: unknown): TRPCError {
  const isCut = boundIssues(cause);
  const error = new TRPCError({ code: 'BAD_REQUEST', cause });
  if (!isCut && error.message.length <= maxMessageLength) return error;
  const issues = issuesOf(error);
  const message = issues.length > 0 ? formatIssues(issues) : codeMessage(error.code);
  return new TRPCError({ code: 'BAD_REQUEST', message, cause });
}

/**
 * Returns the issues of an error, from the `issues` of its cause. Issues of zod and of the gateway are complete; those
 * of other Standard Schema libraries have only path and message, since other members may contain the input.
 * @returns an empty list if the error is not about an input
 */
export function issuesOf(error: TRPCError): readonly InputIssue[] {
  const { cause } = error;
  if (error.code !== 'BAD_REQUEST' || cause === undefined) return [];
  // ArkType's `assert`, which tRPC calls, throws an error with `arkErrors`.
  const issues = 'arkErrors' in cause ? cause.arkErrors : 'issues' in cause ? cause.issues : undefined;
  if (!Array.isArray(issues)) return [];
  return cause instanceof InputIssues || isZod(cause)
    ? (issues as readonly InputIssue[])
    : // Not `map`: ArkType's issues are a subclass of Array, whose `map` would create another instance of it.
      Array.from({ length: Math.min(issues.length, maxConverted) }, (_, index) =>
        toIssue(issues[index] as StandardIssue),
      );
}

/** Converts an issue of any Standard Schema library. */
export function toIssue(issue: StandardIssue): InputIssue {
  const path = Array.from(issue.path ?? [], (segment) =>
    typeof segment === 'object' ? segment.key : segment,
  );
  const { message, problem } = issue;
  return { path, message: problem !== undefined && message.endsWith(problem) ? problem : message };
}

/** Formats issues as a sentence with each field and its problem. */
export function formatIssues(issues: readonly InputIssue[]): string {
  const named = issues.slice(0, namedIssues).map((issue) => {
    const field = issue.path.length === 0 ? 'input' : issue.path.map(String).join('.');
    const { place } = issue;
    const name = place && place.name !== issue.path[0] ? ` ${place.name}` : '';
    return `${field}${place ? ` (${place.in}${name})` : ''}: ${issueMessage(issue)}`;
  });
  const omitted = omittedFrom(issues);
  const rest = issues.length - named.length + (omitted === undefined ? 0 : omitted - 1);
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

/**
 * Returns the message of an issue. zod's default English messages are replaced by messages in the style of the
 * gateway's; custom messages and those of a locale configured by `z.config` are kept.
 */
function issueMessage(issue: InputIssue): string {
  const { code, expected, message, values, minimum, maximum } = issue;
  if (code === 'invalid_type') {
    const received = receivedKind(issue);
    if (received === undefined) return message;
    if (received === 'undefined') return 'is required';
    if (expected === 'int' && received === 'number') return 'must be an integer';
    if (expected === 'date') return 'must be a date-time (RFC 3339), such as 2026-01-31T12:00:00Z';
    return `must be of the type ${String(expected)}, not ${received}`;
  }
  if (englishMessage(issue) !== message) return message;
  if (code === 'invalid_value' && Array.isArray(values) && values.length > 1) {
    return `must be one of ${util.joinValues(values, ', ')}`;
  }
  if (code === 'invalid_union') return unionMessage(issue) ?? message;
  const isNumeric = ['number', 'int', 'bigint', 'date'].includes(String(issue['origin']));
  if (isNumeric && issue['inclusive'] === true) {
    if (code === 'too_small') return `must be at least ${String(minimum)}`;
    if (code === 'too_big') return `must be at most ${String(maximum)}`;
  }
  return message;
}

/**
 * Returns the message for a value that no option of a union accepts. `undefined` if more than its type or value is
 * wrong.
 */
function unionMessage(issue: InputIssue): string | undefined {
  const options = unionOptions(issue);
  if (options.some((option) => option.code === 'invalid_type' && receivedKind(option) === 'undefined'))
    return 'is required';
  const expected = new Set(options.map(expectedByOption));
  return expected.size === 0 || expected.has(undefined) ? undefined : `must be ${[...expected].join(' or ')}`;
}

/**
 * Returns the issue of each option of a union, and of nested unions, with the value as a whole. Empty if an option has
 * any other issue.
 */
function unionOptions({ errors }: InputIssue): readonly InputIssue[] {
  const options = Array.isArray(errors) ? (errors as readonly (readonly InputIssue[])[]) : [];
  if (!options.every(([first, ...others]) => first?.path.length === 0 && others.length === 0)) return [];
  return options.flatMap(([only]) => (only?.code === 'invalid_union' ? unionOptions(only) : (only ?? [])));
}

/** Formats the value that an option of a union expects, to follow "must be". */
function expectedByOption(issue: InputIssue): string | undefined {
  const { code, expected, message, values } = issue;
  if (code === 'invalid_type' && receivedKind(issue) !== undefined) {
    return nounsByType[String(expected)] ?? `a ${String(expected)}`;
  }
  if (code !== 'invalid_value' || !Array.isArray(values) || englishMessage(issue) !== message)
    return undefined;
  return `${values.length > 1 ? 'one of ' : ''}${util.joinValues(values, ', ')}`;
}

const nounsByType: Readonly<Record<string, string | undefined>> = {
  int: 'an integer',
  date: 'a date-time (RFC 3339)',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
  undefined: 'absent',
};

const { localeError } = english();

const englishMessage = (issue: object, input?: unknown) =>
  localeError({ ...issue, input } as unknown as Parameters<typeof localeError>[0]);

/**
 * A value of each kind that zod's messages name as received, to find out the kind: an issue does not contain its input.
 */
const inputKinds: readonly (readonly [kind: string, input: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['string', ''],
  ['number', 0],
  ['boolean', false],
  ['array', []],
  ['object', {}],
  ['bigint', 0n],
  ['Date', new Date(0)],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
];

/** Returns the kind of input that zod's default message names. `undefined` if the message is not zod's default. */
const receivedKind = (issue: InputIssue): string | undefined =>
  inputKinds.find(([, input]) => englishMessage(issue, input) === issue.message)?.[0];
