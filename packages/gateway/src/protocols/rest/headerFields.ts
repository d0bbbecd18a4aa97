import { parseCookie } from 'cookie';
import { someHeader, type HttpRequest } from '../../http/request.ts';
import type { TextParameter } from '../../operations/parameter.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { convertText, percentDecode } from './textParameters.ts';

/** Converts the headers and cookies that are part of the input, and sets them on it. */
export function convertHeaders(
  parameters: readonly TextParameter[],
  request: HttpRequest,
  input: Record<string, unknown>,
  issues: InputIssue[],
): void {
  let cookies: Readonly<Record<string, string | undefined>> | undefined;
  for (const { converter, field, place, style } of parameters) {
    if (place.in === 'cookie') {
      cookies ??= cookiesOf(request);
      // The first of several cookies of one name applies: browsers send the one with the longest path first (RFC
      // 6265bis §5.8.3).
      if (place.name in cookies) input[field] = convertText(converter, cookies[place.name], field, issues);
      continue;
    }
    const values = headerValues(request, place.name.toLowerCase());
    if (values.length === 0) continue;
    if (style === 'comma') {
      // RFC 9110 §5.6.1.2: ignore empty elements.
      const items = values.flatMap((value) => value.split(',')).map((item) => item.trim());
      input[field] = items
        .filter((item) => item !== '')
        .map((item) => convertText(converter, item, field, issues));
    } else if (values.length > 1) {
      issues.push({ ...converter.issue, path: [field], message: 'must not be sent more than once' });
    } else {
      input[field] = convertText(converter, values[0], field, issues);
    }
  }
}

/** Returns the headers and cookies that are part of the input, not converted. */
export function headerTexts(parameters: readonly TextParameter[], request: HttpRequest): readonly unknown[] {
  if (parameters.length === 0) return [];
  const cookies = cookiesOf(request);
  return parameters.map(({ place: { in: where, name } }) =>
    where === 'cookie' ? cookies[name] : headerValues(request, name.toLowerCase()),
  );
}

/** Returns the values of a header in order. `name` is in lower case: names are case-insensitive (RFC 9110 §5.1). */
function headerValues(request: HttpRequest, name: string): readonly string[] {
  const values: string[] = [];
  someHeader(request, (other, value) => {
    if (other === name) values.push(value);
    return false;
  });
  return values;
}

/**
 * Parses the cookies into an object without a prototype. A value that is not valid percent-encoded UTF-8 is
 * `undefined`.
 */
const cookiesOf = (request: HttpRequest): Readonly<Record<string, string | undefined>> =>
  parseCookie(request.header('cookie') ?? '', { decode: percentDecode });
