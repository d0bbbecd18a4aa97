import { TRPCError } from '@trpc/server';
import { inputError } from './inputError.ts';

// A literal of at most 15 significant digits and no exponent always survives a double (IEEE 754: DBL_DIG), so only
// a body that has something longer is looked at number by number.
const mayRound = /[\d.]{16}|\d[eE][+-]?\d/;

/**
 * Parses JSON without ever rounding a number that somebody reads.
 * @param isRead whether a member of the outermost object is one that is read: what is ignored may be anything
 * @throws {TRPCError} `BAD_REQUEST` for text that is not JSON, and for a number whose digits a double cannot carry
 */
export function parseExactJson(text: string, isRead: (name: string) => boolean): unknown {
  const value = parse(text);
  if (!mayRound.test(text)) return value;
  const issues = inexactPaths(parse(text, markInexact))
    .filter(([name]) => name === undefined || isRead(String(name)))
    .map((path) => ({ path, message: 'is a number that JSON cannot carry exactly: it would be rounded' }));
  if (issues.length > 0) throw inputError(issues);
  return value;
}

// ES2026 "JSON.parse source text access": in V8 since Node 21, not yet in TypeScript's library.
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

function parse(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver) as unknown;
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The body is not valid JSON.', cause });
  }
}

const inexact = Symbol('inexact');

const markInexact: Reviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined && !isExact(context.source, value)
    ? inexact
    : value;

function inexactPaths(value: unknown): (readonly (string | number)[])[] {
  const found: (readonly (string | number)[])[] = [];
  // A list of what is left to do, not recursion: a body may be nested deeper than the stack.
  const pending: { readonly value: unknown; readonly path: readonly (string | number)[] }[] = [
    { value, path: [] },
  ];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: at, path } = next;
    if (at === inexact) found.push(path);
    else if (Array.isArray(at))
      at.forEach((item, index) => pending.push({ value: item, path: [...path, index] }));
    else if (typeof at === 'object' && at !== null) {
      for (const [name, member] of Object.entries(at)) pending.push({ value: member, path: [...path, name] });
    }
  }
  return found;
}

/** Whether a decimal literal and the double that was made of it are the same number. */
export function isExact(literal: string, value: number): boolean {
  return Number.isFinite(value) && canonical(literal) === canonical(String(value));
}

function canonical(decimal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  // Loops, not /0+$/: that pattern takes quadratic time on a megabyte of zeros that ends in another digit.
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
