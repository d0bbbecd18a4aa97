import { TRPCError } from '@trpc/server';
import { codeMessage } from './errorCodes.ts';
import { PreparationError } from './parseFunction.ts';
import type { StandardIssue } from '../schemas/standardSchema.ts';
import { isZod } from '../schemas/zodSchema.ts';

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

/** Longest message of a schema's error, in characters: some 500 issues of zod with a short path. */
const maxMessageLength = 65_536;

/** As in tRPC, the message is that of the cause, for zod the JSON of all issues; if too large, a sentence. */
export function inputFailure(cause: unknown): TRPCError {
  if (cause instanceof PreparationError) return new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause });
  const isCut = boundIssues(cause);
  const error = new TRPCError({ code: 'BAD_REQUEST', cause });
  if (!isCut && error.message.length <= maxMessageLength) return error;
  const issues = issuesOf(error);
  const message = issues.length > 0 ? formatIssues(issues) : codeMessage(error.code);
  return new TRPCError({ code: 'BAD_REQUEST', message, cause });
}

/** The cause's `issues`, if any. Of other libraries, path and message alone: the rest may have the input. */
export function issuesOf(error: TRPCError): readonly InputIssue[] {
  const { cause } = error;
  if (error.code !== 'BAD_REQUEST' || cause === undefined) return [];
  // ArkType's `assert`, which tRPC calls, throws an error with `arkErrors`.
  const issues = 'arkErrors' in cause ? cause.arkErrors : 'issues' in cause ? cause.issues : undefined;
  if (!Array.isArray(issues)) return [];
  return cause instanceof InputIssues || isZod(cause)
    ? (issues as readonly InputIssue[])
    : // Not `map`: ArkType's issues are a subclass of Array, whose `map` would create another instance of it.
      Array.from({ length: Math.min(issues.length, maxIssues) }, (_, index) =>
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

/** A sentence with each field and its problem. `wrapper`: the field that the client sent the input as. */
export function formatIssues(issues: readonly InputIssue[], wrapper?: string): string {
  // All of an error that was cut, whose last issue says how many are missing.
  const count = issues.length === namedIssues + 1 ? issues.length : namedIssues;
  const named = issues.slice(0, count).map((issue) => {
    const path = wrapper === undefined ? issue.path : [wrapper, ...issue.path];
    const field = path.length === 0 ? 'input' : path.map(String).join('.');
    const { place } = issue;
    const name = place && place.name !== issue.path[0] ? ` ${place.name}` : '';
    return `${field}${place ? ` (${place.in}${name})` : ''}: ${issueMessage(issue)}`;
  });
  const rest = issues.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

// zod's English messages (4.6). An issue does not contain the value.
const typeMessage = /^(?:Invalid input: e|E)xpected (\w+), received (-?\w+)$/;
/** Other messages of zod 3 are kept. This one names what no client can send. */
const zod3Date = 'Expected date, received string';
const sizeMessage = /^Too (?:big|small): expected (\w+) to (?:be|have) ([<>]=?|exactly )(-?[\d.e+]+)( \w+)?$/;
const literalMessage = /^Invalid input: expected (.+)$/;
const optionMessage = /^Invalid option: expected one of /;

/** The words of messages for the types of JSON, as a client has to send them and has sent them. */
const expectedTypes: Readonly<Record<string, string>> = {
  // A client cannot send a Date.
  date: 'a date-time (RFC 3339), such as 2026-01-31T12:00:00Z',
  array: 'an array',
  boolean: 'true or false',
  int: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};
const receivedTypes: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'a boolean',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};
const comparisons: Readonly<Record<string, string>> = {
  '<': 'less than',
  '<=': 'at most',
  '>': 'more than',
  '>=': 'at least',
  'exactly ': 'exactly',
};

/** zod's message in the gateway's words; custom ones and those of `z.config` stay. `isNested`: in a union. */
function issueMessage(issue: InputIssue, isNested = false): string {
  const { code, message } = issue;
  if (code === 'invalid_type' || message === zod3Date) return typeProblem(message);
  if (code === 'too_big' || code === 'too_small') return sizeProblem(message);
  if (code === 'invalid_value') return valueProblem(issue);
  if (code !== 'invalid_union' || message !== 'Invalid input') return message;
  return unionMessage(issue, isNested) ?? message;
}

function typeProblem(message: string): string {
  const [, name = '', received = ''] = typeMessage.exec(message) ?? [];
  if (received === 'undefined') return 'is required';
  const expected = expectedTypes[name];
  if (expected === undefined) return message;
  const found = receivedTypes[received];
  // A date is sent as a string, and an integer is a number.
  const isClear = found === undefined || name === 'date' || (name === 'int' && received === 'number');
  return `must be ${expected}${isClear ? '' : `, not ${found}`}`;
}

function sizeProblem(message: string): string {
  const [, type, comparison = '', limit = '', units] = sizeMessage.exec(message) ?? [];
  if (units !== undefined) {
    const unit = limit === '1' ? units.replace(/(?:(?<=entr)ie)?s$/, '') : units;
    return `must have ${comparisons[comparison]} ${limit}${unit}`;
  }
  if (type === undefined) return message;
  // zod prints the milliseconds of a Date.
  const bound = type === 'date' ? new Date(Number(limit)).toISOString() : limit;
  return `must be ${comparisons[comparison]} ${bound}`;
}

function valueProblem({ message, values }: InputIssue): string {
  if (optionMessage.test(message) && Array.isArray(values)) {
    const options = values.map((each) => (typeof each === 'string' ? JSON.stringify(each) : String(each)));
    return `must be one of ${options.join(', ')}`;
  }
  const [, value] = literalMessage.exec(message) ?? [];
  return value === undefined ? message : `must be ${value}`;
}

/** Number of options of a union, and of issues of each, that a message names. */
const namedOptions = 5;
const namedOptionIssues = 3;

/** The messages of a union's options, or the fields that each requires; a nested union's are not named. */
function unionMessage({ errors }: InputIssue, isNested: boolean): string | undefined {
  const options = Array.isArray(errors) ? (errors as readonly (readonly InputIssue[])[]) : [];
  if (options.length === 0 || options.some((issues) => issues.length === 0)) return undefined;
  const isWhole = options.every(([first, ...others]) => first?.path.length === 0 && others.length === 0);
  if (!isWhole && isNested) return undefined;
  const messages = new Set(
    options.slice(0, namedOptions).map((issues) =>
      issues
        .slice(0, namedOptionIssues)
        .map((issue) => (isWhole ? '' : fieldOf(issue.path)) + issueMessage(issue, true))
        .join(', '),
    ),
  );
  if (!isWhole) return `must fit one of its forms: ${[...messages].join('; or ')}`;
  return messages.has('is required') ? 'is required' : [...messages].join(', or ');
}

const fieldOf = (path: readonly PropertyKey[]) => (path.length === 0 ? '' : `${path.map(String).join('.')} `);

// An error of a schema may be far larger than its input: each issue of a list repeats its path, and the issues of a
// recursive union share their children, which `message` writes out once for each path to them (zod 4.6.7: 427
// bytes of input took more than 20 s). So issues are measured and cut before anything reads `message`.

/** Largest number of issues of another library, whose `message` does not list them. */
const maxIssues = 1000;

/** Number of issues that a message names, and that are kept, shortened, of an error that is too large. */
const namedIssues = 20;

/** Longest text in a shortened issue, in characters. */
const maxShortText = 200;

/** Cuts issues in place, so that `message` and `z.treeifyError` are cheap. Returns whether any were cut. */
export function boundIssues(error: unknown): boolean {
  const issues = error instanceof Error && 'issues' in error ? error.issues : undefined;
  if (!Array.isArray(issues) || Object.isFrozen(issues)) return false;
  const isZodError = /^\$?ZodError$/.test((error as Error).name);
  if (isZodError ? textLeft(issues, maxMessageLength, 0) >= 0 : issues.length <= maxIssues) return false;
  const kept = issues.slice(0, namedIssues).map(shortIssue);
  const omitted = issues.length - kept.length;
  if (omitted > 0) {
    const message = `${omitted} more issues are not listed`;
    kept.push({ code: 'custom', path: [], message });
  }
  issues.splice(0, issues.length, ...kept);
  return true;
}

/** What a value's text leaves of a budget; stops below 0, whatever the value. zod indents by depth. */
function textLeft(value: unknown, budget: number, depth: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  let left = budget - 2 * depth - 8;
  if (typeof value !== 'object' || value === null) return left;
  // A member of an object counts like a list of its name and its value.
  for (const member of Array.isArray(value) ? (value as readonly unknown[]) : Object.entries(value)) {
    if (left < 0) break;
    left = textLeft(member, left, depth + 1);
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
