// Hot path: every parameter of a path and a query runs through it.
import { integerPattern, notConvertible, type Converter } from '../../operations/convert.ts';
import type { Parameter, TextParameter, TreeParameter } from '../../operations/parameter.ts';
import type { QueryNode } from '../../operations/queryTree.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { depthError } from '../../procedures/jsonLimits.ts';

/** The path of a value in the input: the name of a property, or a list of keys. */
type FieldPath = string | readonly string[];

const toKeys = (path: FieldPath, index?: number): readonly PropertyKey[] => {
  const keys = typeof path === 'string' ? [path] : path;
  return index === undefined ? keys : [...keys, index];
};

/** Parameters by their names in a query or a form. */
interface KnownFields {
  get(name: string): Parameter | undefined;
}

/**
 * Reads the known fields of a query or of an `application/x-www-form-urlencoded` body, and sets them on the input.
 * Unknown fields are ignored.
 * @param maxDepth maximum number of brackets in a name
 * @param decode returns `undefined` for a text that is rejected, and for an unknown name
 * @throws {LimitError} `json-depth`
 */
export function readFields(
  text: string,
  known: KnownFields,
  input: object,
  issues: InputIssue[],
  maxDepth: number,
  decode = formDecode,
): void {
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const parameter = name === undefined ? undefined : known.get(name);
    if (name === undefined || parameter === undefined) continue;
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (parameter.style === 'tree') setMember(parameter, name, value, input, issues, maxDepth);
    else setValue(input, parameter.field, parameter, value, issues);
  }
}

/** Returns the pairs of a query, as received, whose names pass a test. */
export const queryPairs = (query: string, isKept: (name: string) => boolean): string[] =>
  query.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    return isKept(formDecode(equals === -1 ? pair : pair.slice(0, equals)) ?? '');
  });

/** Sets a value of an object whose members are written with brackets: `filter[range][min]=1`. */
function setMember(
  { field, place, tree }: TreeParameter,
  name: string,
  text: string | undefined,
  input: object,
  issues: InputIssue[],
  maxDepth: number,
): void {
  const brackets = name.slice(place.name.length);
  const keys = /^(?:\[[^[\]]*\])+$/.test(brackets) ? brackets.slice(1, -1).split('][') : [];
  if (keys.length > maxDepth) throw depthError(maxDepth);
  let node: QueryNode | undefined = tree;
  for (const key of keys) {
    const parent: QueryNode | undefined = node;
    node = parent.kind === 'object' ? (parent.fields.get(key) ?? parent.others) : undefined;
    if (node === undefined) {
      // A member that the schema does not name is ignored, as an unknown parameter is.
      if (parent.kind === 'object' && !parent.isStrict) return;
      break;
    }
  }
  const leaf = node?.kind === 'list' ? node.item : node;
  if (leaf?.kind !== 'value') {
    const message = `is written as ${JSON.stringify(name)}; write each of its members as ${place.name}[name]`;
    issues.push({ code: 'invalid_key', path: [field], message });
    return;
  }
  const path = [field, ...keys];
  let target = input as Record<string, object>;
  for (const key of path.slice(0, -1)) {
    // Without a prototype, so that `__proto__` becomes an own property, which the schema accepts or rejects.
    if (!Object.hasOwn(target, key)) target[key] = Object.create(null) as object;
    target = target[key] as Record<string, object>;
  }
  const { converter } = leaf;
  const style = node?.kind === 'list' ? 'repeat' : 'single';
  setValue(target, path.at(-1) ?? '', { converter, style }, text, issues, path);
}

/** Converts a value, and sets it as a property: for an array, as its next item. */
export function setValue(
  target: object,
  key: string,
  { converter, style }: Pick<TextParameter, 'style'> & { readonly converter: Converter },
  text: string | undefined,
  issues: InputIssue[],
  path: FieldPath = key,
): void {
  const values = target as Record<string, unknown>;
  const isFirst = !Object.hasOwn(values, key);
  if (style === 'repeat') {
    const items = (isFirst ? (values[key] = []) : values[key]) as unknown[];
    items.push(convertText(converter, text, path, issues, items.length));
  } else if (isFirst) {
    values[key] = convertText(converter, text, path, issues);
  } else if (style === 'any') {
    const items = Array.isArray(values[key]) ? values[key] : (values[key] = [values[key]]);
    (items as unknown[]).push(convertText(converter, text, path, issues, items.length));
  } else if (values[key] !== repeated) {
    // One issue, however often a client repeats the name.
    values[key] = repeated;
    issues.push({ ...converter.issue, path: toKeys(path), message: 'must not be sent more than once' });
  }
}

/** The value of a parameter that was sent more than once. Its request is rejected. */
const repeated = Symbol('repeated');

/**
 * Converts a text to the type of its schema.
 * @param text `undefined` if it is not valid UTF-8
 * @param issues receives the problem, if any
 * @param index the index of an item of an array
 */
export function convertText(
  converter: Converter,
  text: string | undefined,
  path: FieldPath,
  issues: InputIssue[],
  index?: number,
): unknown {
  if (text === undefined) {
    const message = 'is not valid percent-encoded UTF-8';
    issues.push({ code: 'invalid_format', format: 'utf-8', path: toKeys(path, index), message });
    return undefined;
  }
  const value = converter.convert(text);
  if (value !== notConvertible) return value;
  const message =
    converter.isInteger && integerPattern.test(text)
      ? 'must be within ±(2^53−1); larger integers cannot be represented exactly'
      : `must be ${converter.expects}`;
  issues.push({ ...converter.issue, path: toKeys(path, index), message });
  return undefined;
}

/**
 * Converts the rest of a path, `{+name}`. For an array, each segment is an item; otherwise the value is the text with
 * its slashes.
 * @param received the text before percent-decoding
 */
export function convertRest(
  { converter, field }: TextParameter,
  received: string,
  issues: InputIssue[],
): unknown {
  const segments = received.split('/').map(percentDecode);
  if (converter.isRepeated) {
    return segments.map((segment, index) => convertText(converter, segment, field, issues, index));
  }
  const isValid = segments.every((segment) => segment !== undefined);
  return convertText(converter, isValid ? segments.join('/') : undefined, field, issues);
}

/** Decodes percent-encoded UTF-8. Returns `undefined` if the text is invalid. */
export function percentDecode(text: string): string | undefined {
  // Hot path: few texts contain a percent sign, and this check takes a tenth of the time of decoding.
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Decodes a text of `application/x-www-form-urlencoded`. `undefined` if it is not valid percent-encoded UTF-8. */
const formDecode = (text: string): string | undefined =>
  percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes a text as `querystring` of Node does: what is not valid percent-encoded UTF-8 is kept, or replaced by U+FFFD. */
export const lenientFormDecode = (text: string): string =>
  formDecode(text) ??
  text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) =>
      decoder.decode(Uint8Array.from(encoded.slice(1).split('%'), (hex) => Number.parseInt(hex, 16))),
    );
