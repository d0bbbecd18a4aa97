/** A tRPC code as a sentence: `INTERNAL_SERVER_ERROR` is "Internal server error". */
export const codeInWords = (code: string): string =>
  `${code.slice(0, 1)}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;
