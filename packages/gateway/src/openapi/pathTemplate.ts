/** A path template, segment by segment: `/pets/{petId}` is `['pets', { parameter: 'petId' }]`. */
export type PathTemplate = readonly (string | PathParameter)[];

export interface PathParameter {
  readonly parameter: string;
  /** Whether it takes the rest of the path, slashes included: `{+path}`. It is the last segment. */
  readonly isRest?: true;
}

/**
 * Splits a template such as `/pets/{petId}` or `/files/{+path}` (RFC 6570 §3.2.3); `undefined` for any other form, such
 * as `/pets/:petId`.
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

/** The path as OpenAPI writes it, which has no operator for a rest: `/files/{path}`. */
export const documentPath = (path: string): string => path.replace('/{+', '/{');
