// Hot path: every parameter runs through it.
import { integerText, notConvertible, type Converter } from '../../openapi/convert.ts';
import { percentDecode } from '../../http/percentDecode.ts';
import type { TextParameter } from '../../openapi/parameter.ts';
import type { InputIssue } from '../../procedures/inputError.ts';

/** The place of a value in the input: a property, or the keys that lead to it. */
type FieldPath = string | readonly PropertyKey[];

const keysOf = (path: FieldPath): readonly PropertyKey[] => (typeof path === 'string' ? [path] : path);

/** @param text `undefined` where it is not valid UTF-8 */
export function convertText(
  converter: Converter,
  text: string | undefined,
  path: FieldPath,
  issues: InputIssue[],
): unknown {
  if (text === undefined) {
    const message = 'is not valid percent-encoded UTF-8';
    issues.push({ code: 'invalid_format', format: 'utf-8', path: keysOf(path), message });
    return undefined;
  }
  const value = converter.convert(text);
  if (value !== notConvertible) return value;
  const message =
    converter.integer && integerText.test(text)
      ? 'is beyond ±(2^53−1), which cannot be carried exactly'
      : `must be ${converter.expects}`;
  issues.push({ ...converter.issue, path: keysOf(path), message });
  return undefined;
}

/**
 * Converts a list with commas. An encoded comma belongs to its item (RFC 6570 §3.2.8), unless no item can hold one:
 * then it separates as well, since form encoders write every comma so.
 * @param received as received: not decoded
 */
export function convertCommaList(
  converter: Converter,
  received: string,
  path: FieldPath,
  issues: InputIssue[],
): readonly unknown[] {
  // Nothing at all is a list without items, unless an item may be empty.
  if (received === '' && converter.convert('') === notConvertible) return [];
  const items = takesCommas(converter)
    ? received.split(',').map(formDecode)
    : (formDecode(received)?.split(',') ?? [undefined]);
  return items.map((item) => convertText(converter, item, path, issues));
}

const takesCommas = ({ convert, samples }: Converter): boolean =>
  convert('a,b') !== notConvertible || samples.some((sample) => sample.includes(','));

/**
 * Converts the rest of a path: of an array, each segment is an item; of anything else, the text with its slashes.
 * @param received as received: not decoded
 */
export function convertRest(
  { converter, field }: TextParameter,
  received: string,
  issues: InputIssue[],
): unknown {
  const segments = received.split('/').map(percentDecode);
  if (converter.repeated) {
    return segments.map((segment, index) => convertText(converter, segment, [field, index], issues));
  }
  const isValid = segments.every((segment) => segment !== undefined);
  return convertText(converter, isValid ? segments.join('/') : undefined, field, issues);
}

/** Decodes `application/x-www-form-urlencoded`; `undefined` where a text is not valid percent-encoded UTF-8. */
export const formDecode = (text: string): string | undefined =>
  percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);
