import { parseCookie } from 'cookie';
import { someHeader, type HttpRequest } from '../../http/request.ts';
import { percentDecode } from '../../http/percentDecode.ts';
import type { TextParameter } from '../../openapi/parameter.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { convertText } from './convertText.ts';

/** Converts the headers and cookies that an input is read from, and adds them to it. */
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
      // Of several cookies of one name the first counts: browsers send the one of the longest path first (RFC 6265bis
      // §5.8.3).
      if (place.name in cookies) input[field] = convertText(converter, cookies[place.name], field, issues);
      continue;
    }
    const values = headerValues(request, place.name.toLowerCase());
    if (values.length === 0) continue;
    if (style === 'comma') {
      // Empty elements are to be ignored (RFC 9110 §5.6.1.2).
      const items = values.flatMap((value) => value.split(',')).map((item) => item.trim());
      input[field] = items
        .filter((item) => item !== '')
        .map((item) => convertText(converter, item, field, issues));
    } else if (values.length > 1) {
      issues.push({ ...converter.issue, path: [field], message: 'is given more than once' });
    } else {
      input[field] = convertText(converter, values[0], field, issues);
    }
  }
}

/** The texts of the headers and cookies that an input is read from, as received. */
export function headerTexts(parameters: readonly TextParameter[], request: HttpRequest): readonly unknown[] {
  if (parameters.length === 0) return [];
  const cookies = cookiesOf(request);
  return parameters.map(({ place: { in: where, name } }) =>
    where === 'cookie' ? cookies[name] : headerValues(request, name.toLowerCase()),
  );
}

/** The values of a header in order. Names have no case (RFC 9110 §5.1). */
function headerValues(request: HttpRequest, name: string): readonly string[] {
  const values: string[] = [];
  someHeader(request, (other, value) => {
    if (other === name) values.push(value);
    return false;
  });
  return values;
}

/** The cookies by name, without a prototype; one whose value is not valid percent-encoded UTF-8 is `undefined`. */
const cookiesOf = (request: HttpRequest): Readonly<Record<string, string | undefined>> =>
  parseCookie(request.header('cookie') ?? '', { decode: percentDecode });
