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

/** Replaces the text of a module. @throws {Error} if the module was moved: the bench would measure something else */
function replaceModule(path: string, replace: (text: string) => string) {
  const file = at(path);
  const contents = replace(readFileSync(file, 'utf8'));
  return { filter: new RegExp(`${file.replaceAll('.', '\\.')}$`), contents };
}

const replaced = [
  replaceModule(
    '../../../embedded-store/src/index.ts',
    () => `export * from '${at('../petStore/memoryStore.ts')}';`,
  ),
  replaceModule('../../../../apps/server/src/gateway.ts', (text) =>
    text.replace(/'@petstore\/core'/g, `'${at('../petStore/servedRouter.ts')}'`),
  ),
];

Bun.plugin({
  name: 'the store in memory, and a stream of events besides the pet store’s procedures',
  setup(build) {
    for (const { filter, contents } of replaced) build.onLoad({ filter }, () => ({ contents, loader: 'ts' }));
  },
});
