/** The file of Scalar that a browser loads. Its package does not export it: it lies beside what is exported. */
export const scalarBundle = (): URL =>
  new URL('browser/standalone.js', import.meta.resolve('@scalar/api-reference'));
