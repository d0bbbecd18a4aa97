import { percentDecode } from '../../http/percentDecode.ts';

/**
 * The fields of a query, or of an `application/x-www-form-urlencoded` body, that somebody asks for.
 * Others are passed over unread, so that nothing about them can fail.
 * @returns each name's values in order; a value is `undefined` where it is not valid percent-encoded UTF-8
 */
export function formFields(
  text: string,
  isKnown: (name: string) => boolean,
): ReadonlyMap<string, readonly (string | undefined)[]> {
  const fields = new Map<string, (string | undefined)[]>();
  if (text === '') return fields;
  // Not `split`: hot path.
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf('&', at);
    const end = found === -1 ? text.length : found;
    const pair = text.slice(at, end);
    at = end + 1;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undefined || !isKnown(name)) continue;
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

const decode = (text: string) => percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);
