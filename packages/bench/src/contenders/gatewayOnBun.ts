import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What `gateway.ts` is on Node: Bun has no `registerHooks`, but plugins that replace the text of a module.

declare const Bun: {
  plugin(options: {
    readonly name: string;
    setup(build: {
      onLoad(
        options: { readonly filter: RegExp },
        load: (file: { readonly path: string }) => { readonly contents: string; readonly loader: 'ts' },
      ): unknown;
    }): void;
  }): unknown;
};

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

Bun.plugin({
  name: 'the store in memory, and a stream of events besides the pet store’s procedures',
  setup(build) {
    build.onLoad({ filter: /\/packages\/core\/src\/store\/embedded\/index\.ts$/ }, () => ({
      contents: `export * from '${at('../petStore/memoryStore.ts')}';`,
      loader: 'ts',
    }));
    build.onLoad({ filter: /\/apps\/server\/src\/service\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /'@petstore\/core'/g,
        `'${at('../petStore/servedRouter.ts')}'`,
      ),
      loader: 'ts',
    }));
  },
});
