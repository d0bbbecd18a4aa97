// Hot path: every query runs through it.
import { percentDecode } from '../../http/percentDecode.ts';

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
