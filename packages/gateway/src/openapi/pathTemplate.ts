/** A path template, segment by segment: `/pets/{petId}` is `['pets', { parameter: 'petId' }]`. */
export type PathTemplate = readonly (string | { readonly parameter: string })[];

/** Splits a template such as `/pets/{petId}`; `undefined` for any other form, such as `/pets/:petId`. */
export function parsePathTemplate(path: string): PathTemplate | undefined {
  if (!/^(\/([^/:{}][^/{}]*|\{[^/{}]+\}))+$/.test(path)) return undefined;
  const segments = path.slice(1).split('/');
  return segments.map((text) => (text.startsWith('{') ? { parameter: text.slice(1, -1) } : text));
}
