import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What `gateway.ts` is on Node: Bun has no `registerHooks`, but plugins that replace the text of a module.

declare const Bun: {
  plugin(options: {
    readonly name: string;
    setup(build: {
      onLoad(
        options: { readonly filter: RegExp },
        load: () => { readonly contents: string; readonly loader: 'ts' },
      ): unknown;
    }): void;
  }): unknown;
};

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const store = at('../../../embedded-store/src/index.ts');
// Throws if the module was moved: the bench would measure something else.
readFileSync(store);

Bun.plugin({
  name: 'the store in memory',
  setup(build) {
    build.onLoad({ filter: new RegExp(`${store.replaceAll('.', '\\.')}$`) }, () => ({
      contents: `export * from '${at('../petStore/memoryStore.ts')}';`,
      loader: 'ts',
    }));
  },
});
