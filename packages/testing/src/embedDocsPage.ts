import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** Embeds the files of the docs page in a bundle of the sources, which read and compress them when they are loaded. */
export const embedDocsPage: Plugin = {
  name: 'embed-docs-page',
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]docs[/\\]pageSources\.ts$/ }, async ({ path }) => {
      const { default: files } = (await import(pathToFileURL(path).href)) as { readonly default: object };
      return { contents: `export default ${JSON.stringify(files)};` };
    });
  },
};
