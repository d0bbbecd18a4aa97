/** A parsed path template: `/pets/{petId}` is `['pets', { parameter: 'petId' }]`. */
export type PathTemplate = readonly (string | PathParameter)[];

/** How the paths of requests are compared with templates. */
export interface PathMatching {
  /** Whether a path with a slash at its end matches the template without it. */
  readonly ignoreTrailingSlash: boolean;
  /** Whether literal segments match in any case. */
  readonly ignorePathCase: boolean;
}

/** Returns a path in lower case, but only its letters of ASCII: the Kelvin sign (U+212A) is no k. */
export const foldCase = (path: string): string =>
  path.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

interface PathParameter {
  readonly parameter: string;
  /** Whether the parameter matches the rest of the path, including slashes: `{+path}`. It is the last segment. */
  readonly isRest?: true;
}

/**
 * Parses a template such as `/pets/{petId}` or `/files/{+path}` (RFC 6570 §3.2.3). Returns `undefined` for any other
 * syntax, such as `/pets/:petId`.
 */
export function parsePathTemplate(path: string): PathTemplate | undefined {
  if (!/^(?=\/)(\/([^/:{}][^/{}]*|\{[^+/{}][^/{}]*\}))*(\/\{\+[^+/{}][^/{}]*\})?$/.test(path))
    return undefined;
  const segments = path.slice(1).split('/');
  return segments.map((text) => {
    if (!text.startsWith('{')) return text;
    return text.startsWith('{+')
      ? { parameter: text.slice(2, -1), isRest: true }
      : { parameter: text.slice(1, -1) };
  });
}

/** Converts a path to OpenAPI's syntax, which has no `+` operator: `/files/{path}`. */
export const documentPath = (path: string): string => path.replace('/{+', '/{');
