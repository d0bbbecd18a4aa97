// `node --import hooks.ts` loads the models of what processes share; nothing else reads files meanwhile.
import { registerHooks } from 'node:module';

const product = /\/packages\/shared\/src\//;
const models: Readonly<Record<string, string>> = {
  lmdb: new URL('disk/lmdb.ts', import.meta.url).href,
  'node:fs': new URL('disk/fs.ts', import.meta.url).href,
};

registerHooks({
  resolve(specifier, context, nextResolve) {
    const model = models[specifier];
    if (model === undefined || !product.test(context.parentURL ?? '')) return nextResolve(specifier, context);
    return { url: model, format: 'module-typescript', shortCircuit: true };
  },
});
