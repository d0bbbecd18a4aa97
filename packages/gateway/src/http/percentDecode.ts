/** @returns `undefined` where the text is not valid percent-encoded UTF-8 */
export function percentDecode(text: string): string | undefined {
  // Hot path: few texts have a percent sign, and the check costs a tenth of decoding.
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
