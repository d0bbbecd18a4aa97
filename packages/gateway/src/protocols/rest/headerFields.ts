import { parseCookie } from 'cookie';
import type { HttpRequest } from '../../http/request.ts';
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
  const texts = headerTexts(parameters, request);
  for (const [index, { converter, field, style }] of parameters.entries()) {
    const values = texts[index] ?? [];
    if (values.length === 0) continue;
    if (style === 'comma') {
      // RFC 9110 §5.6.1.2: ignore empty elements.
      const items = values.flatMap((value) => value?.split(',') ?? []).map((item) => item.trim());
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

/**
 * Returns the values of the headers and cookies that are part of the input, not converted. A cookie that is not valid
 * percent-encoded UTF-8 is `undefined`.
 */
export function headerTexts(
  parameters: readonly TextParameter[],
  request: HttpRequest,
): readonly (readonly (string | undefined)[])[] {
  if (parameters.length === 0) return [];
  const headers = [...request.headers()];
  const cookies = parseCookie(request.header('cookie') ?? '', { decode: percentDecode });
  return parameters.map(({ place: { in: where, name } }) => {
    if (where !== 'cookie') {
      // RFC 9110 §5.1: names are case-insensitive.
      const lower = name.toLowerCase();
      return headers.filter(([other]) => other === lower).map(([, value]) => value);
    }
    // The first of several cookies of one name applies: browsers send the one with the longest path first (RFC 6265bis
    // §5.8.3).
    return name in cookies ? [cookies[name]] : [];
  });
}
