import { parseCookie } from 'cookie';
import type { HttpRequest } from '../../http/request.ts';
import type { TextParameter } from '../../operations/parameter.ts';
import { percentDecode } from './textParameters.ts';

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
