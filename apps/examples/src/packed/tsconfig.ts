/** The module resolutions of TypeScript for Node and for bundlers. Both must work. */
export const resolutions = [
  { module: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
] as const;

/** Returns a strict `tsconfig.json` that also checks libraries. */
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
      // TypeScript 7 includes no `@types` packages by default.
      types: ['*'],
      noEmit: true,
    },
    files,
  });
