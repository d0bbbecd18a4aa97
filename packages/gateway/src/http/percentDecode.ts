/** @returns `undefined` where the text is not valid percent-encoded UTF-8 */
export function percentDecode(text: string): string | undefined {
  // Hot path: few texts hold any, and looking for it costs a tenth of decoding.
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
