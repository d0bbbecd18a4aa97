import { isExactNumber } from '../../operations/convert.ts';
import { inputError } from '../../procedures/inputError.ts';
import { RestStatusError } from './errorResponse.ts';

/** Matches an exponent of three digits, which may exceed the range of a double. */
const longExponent = /\d[eE][+-]?\d{3}/;

/**
 * Whether a double may round a number in a text. Up to 15 significant digits with a small exponent are exact (IEEE 754:
 * DBL_DIG), so only a text with more is checked number by number. Hot path: tests every sixteenth character, as a run
 * of sixteen digits has one. A regular expression for both took 40% of a POST of 100 KB, and ten times as long for
 * numbers.
 */
function mayRound(text: string): boolean {
  for (let at = minInexactDigits - 1; at < text.length; at += minInexactDigits) {
    if (isDigitOrPoint(text, at) && runLength(text, at) >= minInexactDigits) return true;
  }
  return longExponent.test(text);
}

const minInexactDigits = 16;

/** Returns the length of the run of digits and points around a position. */
function runLength(text: string, at: number): number {
  let start = at;
  while (start > 0 && isDigitOrPoint(text, start - 1)) start -= 1;
  let end = at + 1;
  while (end < text.length && isDigitOrPoint(text, end)) end += 1;
  return end - start;
}

function isDigitOrPoint(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * Parses JSON as trpc-to-openapi on Express does: numbers are rounded, an empty text is an object, and so is a list,
 * which PHP sends for an empty object.
 * @throws {TRPCError} `BAD_REQUEST` for text that is not JSON
 */
export function parseLenientJson(text: string): unknown {
  const value = text === '' ? {} : parseExactJson(text);
  return Array.isArray(value) ? Object.assign({}, value) : value;
}

/**
 * Parses JSON and rejects numbers that would be rounded.
 * @param isRead whether a member of the outermost object is input, and so is checked. `undefined`: none
 * @throws {TRPCError} `BAD_REQUEST` for text that is not JSON, and for an inexact number
 */
export function parseExactJson(text: string, isRead?: (name: string) => boolean): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = text.trim() === '' ? 'The body is empty; send JSON.' : 'The body is not valid JSON.';
    throw new RestStatusError('BAD_REQUEST', 400, message, { code: 'PARSE_ERROR', cause });
  }
  if (isRead === undefined || !mayRound(text)) return value;
  const issues = [...membersWithInexactNumbers(text)]
    .filter((name) => name === undefined || isRead(name))
    .map((name) => ({
      code: 'custom',
      path: name === undefined ? [] : [name],
      message: 'contains a number that JSON cannot represent exactly',
    }));
  if (issues.length > 0) throw inputError(issues);
  return value;
}

/**
 * Returns the outermost object's members with a number that would be rounded; `undefined` for one outside an object.
 * Scans the text, which is valid JSON: recursion or a reviver needs stack per level, and a body may be very deep.
 */
function membersWithInexactNumbers(text: string): ReadonlySet<string | undefined> {
  const members = new Set<string | undefined>();
  let depth = 0;
  let member: string | undefined;
  let isInString = false;
  let stringStart = 0;
  let stringEnd = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '"') {
      if (isInString) stringEnd = index + 1;
      else stringStart = index;
      isInString = !isInString;
    } else if (isInString) {
      continue;
    } else if (token === ':') {
      if (depth === 1) member = JSON.parse(text.slice(stringStart, stringEnd)) as string;
    } else if (token === '{' || token === '[') {
      depth += 1;
    } else if (token === '}' || token === ']') {
      depth -= 1;
    } else if (!isExactNumber(token, Number(token))) {
      members.add(member);
    }
  }
  return members;
}

/** Escapes, the marks of strings, objects and arrays, and numbers that may be rounded: others would take most of the time. */
const tokens = /\\.|["{}[\]:]|-?\d[\d.]*[eE][+-]?\d{3,}|-?\d[\d.eE+-]{15,}/g;
