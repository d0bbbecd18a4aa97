// Hot path: every query runs through it.
import { percentDecode } from '../../http/percentDecode.ts';
import { integerText, notConvertible, type Parameter } from '../../openapi/convert.ts';
import type { InputIssue } from '../../procedures/inputError.ts';

/** The values of each field in order; a value is `undefined` where it is not valid percent-encoded UTF-8. */
export type FormFields = ReadonlyMap<string, readonly (string | undefined)[]>;

/** Reads the known fields of a query, or of an `application/x-www-form-urlencoded` body. Others cannot fail: they are skipped. */
export function formFields(text: string, known: { has(name: string): boolean }): FormFields {
  const fields = new Map<string, (string | undefined)[]>();
  for (let start = 0; start < text.length;) {
    const separator = text.indexOf('&', start);
    const end = separator === -1 ? text.length : separator;
    const pair = text.slice(start, end);
    start = end + 1;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undefined || !known.has(name)) continue;
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

const decode = (text: string) => percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);

/** Converts the fields of a query or a form, and adds them to the input. */
export function convertFields(
  parameters: ReadonlyMap<string, Parameter>,
  fields: FormFields,
  input: Record<string, unknown>,
  issues: InputIssue[],
): void {
  for (const [name, values] of fields) {
    // Only known fields were read, each with a value.
    const parameter = parameters.get(name) as Parameter;
    if (parameter.converter.repeated) {
      input[name] = values.map((value) => convertText(parameter, value, issues));
    } else if (values.length > 1) {
      issues.push({ ...parameter.converter.issue, path: [name], message: 'is given more than once' });
    } else {
      input[name] = convertText(parameter, values[0], issues);
    }
  }
}

/** @param text `undefined` where it is not valid UTF-8 */
export function convertText(
  { name, converter }: Parameter,
  text: string | undefined,
  issues: InputIssue[],
): unknown {
  if (text === undefined) {
    const message = 'is not valid percent-encoded UTF-8';
    issues.push({ code: 'invalid_format', format: 'utf-8', path: [name], message });
    return undefined;
  }
  const value = converter.convert(text);
  if (value !== notConvertible) return value;
  const message =
    converter.integer && integerText.test(text)
      ? 'is beyond ±(2^53−1), which cannot be carried exactly'
      : `must be ${converter.expects}`;
  issues.push({ ...converter.issue, path: [name], message });
  return undefined;
}
