// Hot path: every parameter of a path and a query runs through it.

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
