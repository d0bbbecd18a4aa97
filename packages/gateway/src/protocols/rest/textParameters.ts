// Hot path: every parameter of a path and a query runs through it.
import { parseCookie } from 'cookie';
import type { HttpRequest } from '../../http/request.ts';
import type { TextParameter } from '../../operations/parameter.ts';

/** Returns the pairs of a query, as received, whose names pass a test. */
export const queryPairs = (query: string, isKept: (name: string) => boolean): string[] =>
  query.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    return isKept(formDecode(equals === -1 ? pair : pair.slice(0, equals)) ?? '');
  });

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
export const formDecode = (text: string): string | undefined =>
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

/** Returns the headers and cookies of the input, not converted; a cookie that is not UTF-8 is `undefined`. */
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
    // The first cookie of a name: browsers send the longest path first (RFC 6265bis §5.8.3).
    return name in cookies ? [cookies[name]] : [];
  });
}
