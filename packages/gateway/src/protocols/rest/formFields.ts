// Hot path: every query runs through it.
import type { Parameter } from '../../operations/parameter.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { convertCommaList, convertText, formDecode } from './convertText.ts';
import { QueryTrees } from './queryTrees.ts';

/**
 * The values of each field, in order. A value that is not valid percent-encoded UTF-8 is `undefined`. The value of a
 * comma-separated list is not decoded, since an encoded comma is part of an item.
 */
export type FormFields = ReadonlyMap<string, readonly (string | undefined)[]>;

interface KnownFields {
  get(name: string): Parameter | undefined;
}

/** Parses the known fields of a query or of an `application/x-www-form-urlencoded` body. Unknown fields are ignored. */
export function formFields(text: string, known: KnownFields): FormFields {
  const fields = new Map<string, (string | undefined)[]>();
  for (let start = 0; start < text.length;) {
    const separator = text.indexOf('&', start);
    const end = separator === -1 ? text.length : separator;
    const pair = text.slice(start, end);
    start = end + 1;
    const equals = pair.indexOf('=');
    const name = formDecode(equals === -1 ? pair : pair.slice(0, equals));
    const parameter = name === undefined ? undefined : known.get(name);
    if (name === undefined || parameter === undefined) continue;
    const received = equals === -1 ? '' : pair.slice(equals + 1);
    const value = parameter.style === 'comma' ? received : formDecode(received);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

/**
 * Converts the fields of a query or a form, and sets them on the input.
 * @param maxDepth maximum number of brackets in a name
 * @throws {LimitError} `json-depth`
 */
export function convertFields(
  parameters: KnownFields,
  fields: FormFields,
  input: Record<string, unknown>,
  issues: InputIssue[],
  maxDepth: number,
): void {
  let trees: QueryTrees | undefined;
  for (const [name, values] of fields) {
    // `formFields` has kept known fields only.
    const parameter = parameters.get(name) as Parameter;
    if (parameter.style === 'tree') {
      (trees ??= new QueryTrees(maxDepth)).add(parameter, name, values, issues);
      continue;
    }
    const { converter, field } = parameter;
    if (parameter.style === 'repeat') {
      input[field] = values.map((value) => convertText(converter, value, field, issues));
    } else if (values.length > 1) {
      issues.push({ ...converter.issue, path: [field], message: 'must not be sent more than once' });
    } else if (parameter.style === 'comma') {
      input[field] = convertCommaList(converter, values[0] ?? '', field, issues);
    } else {
      input[field] = convertText(converter, values[0], field, issues);
    }
  }
  trees?.convert(input, issues);
}
