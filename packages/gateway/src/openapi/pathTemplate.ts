/** A path template, segment by segment: `/pets/{petId}` is `['pets', { parameter: 'petId' }]`. */
export type PathTemplate = readonly (string | { readonly parameter: string })[];

/** Splits a template such as `/pets/{petId}`; `undefined` where a segment mixes text and braces or a name is empty. */
export function parsePathTemplate(path: string): PathTemplate | undefined {
  const segments = path
    .split('/')
    .slice(1)
    .map((segment) => {
      const parameter = /^\{([^{}]+)\}$/.exec(segment)?.[1];
      if (parameter !== undefined) return { parameter };
      return /[{}]/.test(segment) || segment === '' ? undefined : segment;
    });
  return segments.includes(undefined) || !path.startsWith('/') ? undefined : (segments as PathTemplate);
}
