/** Returns the URL of Scalar's browser bundle. The package does not export it, so the path is relative to an exported file. */
export const scalarBundle = (): URL =>
  new URL('browser/standalone.js', import.meta.resolve('@scalar/api-reference'));
