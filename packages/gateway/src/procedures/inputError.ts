import { TRPCError } from '@trpc/server';
import { util } from 'zod/v4/core';
import english from 'zod/v4/locales/en.js';
import { isZod } from './isZod.ts';
import type { StandardIssue } from './standardSchema.ts';

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

const maxIssues = 20;

/** Issues that the gateway itself found in an input, reported like those of a procedure's own schema. */
class InputIssues extends Error {
  readonly issues: readonly InputIssue[];
  constructor(issues: readonly InputIssue[]) {
    super(formatIssues(issues));
    this.issues = issues;
  }
}

/** A `BAD_REQUEST` that names each offending field. */
export function inputError(issues: readonly InputIssue[]): TRPCError {
  return new TRPCError({ code: 'BAD_REQUEST', cause: new InputIssues(issues) });
}

/**
 * The issues behind an error: those of zod and of the gateway whole; of any other Standard Schema library the path and
 * the message, since the rest may hold the input. They all keep them in `issues`.
 * @returns an empty list where the error is not about an input
 */
export function issuesOf(error: TRPCError): readonly InputIssue[] {
  const { cause } = error;
  if (error.code !== 'BAD_REQUEST' || cause === undefined) return [];
  // ArkType's `assert`, which tRPC calls, throws them under a name of its own.
  const issues = 'arkErrors' in cause ? cause.arkErrors : 'issues' in cause ? cause.issues : undefined;
  if (!Array.isArray(issues)) return [];
  return cause instanceof InputIssues || isZod(cause)
    ? (issues as readonly InputIssue[])
    : // ArkType's are an array whose `map` makes another of its kind.
      Array.from(issues as readonly StandardIssue[], toIssue);
}

/** An issue of any Standard Schema library. */
export function toIssue(issue: StandardIssue): InputIssue {
  const path = Array.from(issue.path ?? [], (segment) =>
    typeof segment === 'object' ? segment.key : segment,
  );
  const { message, problem } = issue;
  return { path, message: problem !== undefined && message.endsWith(problem) ? problem : message };
}

/** A sentence that names each field and its problem. */
export function formatIssues(issues: readonly InputIssue[]): string {
  const named = issues.slice(0, maxIssues).map((issue) => {
    const field = issue.path.length === 0 ? 'input' : issue.path.map(String).join('.');
    const { place } = issue;
    const name = place && place.name !== issue.path[0] ? ` ${place.name}` : '';
    return `${field}${place ? ` (${place.in}${name})` : ''}: ${issueMessage(issue)}`;
  });
  const rest = issues.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

/**
 * The message of an issue. zod's English default is worded like the gateway's own messages; a message that the schema's
 * author wrote, or that a locale configured by `z.config` made, stays.
 */
function issueMessage(issue: InputIssue): string {
  const { code, expected, message, values, minimum, maximum } = issue;
  if (code === 'invalid_type') {
    const received = receivedKind(issue);
    if (received === undefined) return message;
    if (received === 'undefined') return 'is required';
    if (expected === 'int' && received === 'number') return 'must be an integer';
    if (expected === 'date') return 'must be a date-time (RFC 3339)';
    return `must be of the type ${String(expected)}, not ${received}`;
  }
  if (englishMessage(issue) !== message) return message;
  if (code === 'invalid_value' && Array.isArray(values) && values.length > 1) {
    return `must be one of ${util.joinValues(values, ', ')}`;
  }
  if (code === 'invalid_union') return unionMessage(issue) ?? message;
  const isNumeric = ['number', 'int', 'bigint', 'date'].includes(String(issue['origin']));
  if (isNumeric && issue['inclusive'] === true && issue['exact'] !== true) {
    if (code === 'too_small') return `must be at least ${String(minimum)}`;
    if (code === 'too_big') return `must be at most ${String(maximum)}`;
  }
  return message;
}

/** The message of a value that no option of a union takes; `undefined` where more than its type or value is wrong. */
function unionMessage(issue: InputIssue): string | undefined {
  const options = unionOptions(issue);
  if (options.some((option) => option.code === 'invalid_type' && receivedKind(option) === 'undefined'))
    return 'is required';
  const expected = new Set(options.map(expectedBy));
  return expected.size === 0 || expected.has(undefined) ? undefined : `must be ${[...expected].join(' or ')}`;
}

/**
 * The issue that each option has with the value as a whole, of unions within it too; `[]` where an option has others.
 */
function unionOptions({ errors }: InputIssue): readonly InputIssue[] {
  const options = Array.isArray(errors) ? (errors as readonly (readonly InputIssue[])[]) : [];
  if (!options.every(([first, ...others]) => first?.path.length === 0 && others.length === 0)) return [];
  return options.flatMap(([only]) => (only?.code === 'invalid_union' ? unionOptions(only) : (only ?? [])));
}

/** What an option of a union takes, in words that follow "must be". */
function expectedBy(issue: InputIssue): string | undefined {
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

/** A value of each kind that zod's messages name as received: an issue does not carry the input. */
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

/** The kind of input that zod's default message names; `undefined` where the message is not zod's default. */
const receivedKind = (issue: InputIssue): string | undefined =>
  inputKinds.find(([, input]) => englishMessage(issue, input) === issue.message)?.[0];
