/** How TypeScript finds modules, for Node and for bundlers: both must work. */
export const resolutions = [
  { module: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
] as const;

/** A strict `tsconfig.json` that checks libraries too. */
export const tsconfig = (resolution: (typeof resolutions)[number], ...files: readonly string[]): string =>
  JSON.stringify({
    compilerOptions: {
      ...resolution,
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      skipLibCheck: false,
      // Where it is installed. TypeScript 7 takes no types by itself.
      types: ['*'],
      noEmit: true,
    },
    files,
  });
