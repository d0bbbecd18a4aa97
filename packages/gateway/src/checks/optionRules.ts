import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from './gatewayError.ts';
import { isObject } from '../http/isObject.ts';

/** The rule of one option: its check, and the text for its error. */
export interface OptionRule {
  readonly accepts: (value: unknown) => boolean;
  /** The end of "it must be" in messages, with an example if that helps: `a string, such as name: 'pets'`. */
  readonly expected: string;
  /** The rules of its members, if it is an object of further options. */
  readonly members?: Readonly<Record<string, OptionRule>> | undefined;
}

/** The rules of all options of an object. The type requires one for each, so that a new option cannot be forgotten. */
export type OptionRules<Options> = Readonly<Record<keyof Options, OptionRule>>;

export const required = (
  accepts: OptionRule['accepts'],
  expected: string,
  members?: OptionRule['members'],
): OptionRule => ({ accepts, expected, members });

export const optional: typeof required = (accepts, ...others) =>
  required((value) => value === undefined || accepts(value), ...others);

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
export const isFunction = (value: unknown): boolean => typeof value === 'function';

export const text = optional(isText, 'a string');
export const flag = optional((value) => typeof value === 'boolean', 'true or false');
export const callback = optional(isFunction, 'a function');
export const positiveInteger = optional(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  'a positive integer',
);
export const positiveNumber = optional(
  (value) => typeof value === 'number' && value > 0,
  'a positive number, or Infinity for no limit',
);
/** The code that uses the value checks it. */
export const unchecked = optional(() => true, 'anything');

/**
 * Checks options at run time, because JavaScript, casts and spreads bypass the types.
 * @param owner the function or object that takes the options, such as `createGateway`
 * @param prefix precedes the names of options in sentences, such as `cors.`
 * @returns a sentence for each option that is unknown or invalid
 */
export function optionProblems(
  owner: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
  prefix = '',
): readonly string[] {
  if (!isObject(options)) return [`${owner} takes an object of options, not ${formatOption(options)}.`];
  return [...unknownOptions(owner, options, Object.keys(rules)), ...invalidOptions(options, rules, prefix)];
}

/** Checks options as `optionProblems` does. @throws {GatewayError} with a line for each problem */
export function requireOptions(
  owner: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
  prefix = `${owner}.`,
): void {
  const problems = optionProblems(owner, options, rules, prefix);
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
}

/** Returns a sentence for each option that is invalid, and ignores those without a rule. */
export function invalidOptions(
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
  prefix = '',
): readonly string[] {
  return Object.entries(rules).flatMap(([name, { accepts, expected, members }]) => {
    const value: unknown = Reflect.get(options, name);
    const path = `${prefix}${name}`;
    if (!accepts(value)) return [`${path} is ${formatOption(value)}; it must be ${expected}.`];
    return members && isObject(value) ? optionProblems(path, value, members, `${path}.`) : [];
  });
}

/** Formats a list or an object as JSON, and other values as `formatValue` does. */
function formatOption(value: unknown): string {
  if (!Array.isArray(value) && Object.getPrototypeOf(Object(value)) !== Object.prototype) {
    return formatValue(value);
  }
  try {
    return JSON.stringify(value).slice(0, 100);
  } catch {
    return formatValue(value);
  }
}

/** Returns a sentence for each property that is not a known option, with the most similar known name, or with all. */
function unknownOptions(owner: string, value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const suggestion = mostSimilar(name, known);
      const fix =
        suggestion === undefined ? `its options are ${known.join(', ')}.` : `did you mean "${suggestion}"?`;
      return `"${name}" is not an option of ${owner}; ${fix}`;
    });
}

/** Returns the known name with the smallest edit distance, if at most a third of the letters differ. */
export function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const most = Math.ceil(name.length / 3);
  const [similar] = known
    // The distance is at least the difference of the lengths.
    .filter(({ length }) => Math.abs(length - name.length) <= most)
    .map((each) => ({ each, edits: editDistance(name.toLowerCase(), each.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits);
  return similar && similar.edits <= most ? similar.each : undefined;
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
