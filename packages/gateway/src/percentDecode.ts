/** @returns `undefined` where the text is not valid percent-encoded UTF-8 */
export function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
