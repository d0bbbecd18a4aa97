import { registerHooks } from 'node:module';

// Loaded before the pet store's process (`apps/server/src/main.ts`), which runs as it is, whatever it is by now: its
// configuration, wiring and log are what is measured. Two of its modules are others: the store, since every contender
// serves the one in memory, and the router, which may have async resolvers.
const swapped: Readonly<Record<string, string>> = {
  '@petstore/embedded-store': '../petStore/memoryStore.ts',
  '@petstore/core': '../petStore/servedRouter.ts',
};

registerHooks({
  resolve(specifier, context, nextResolve) {
    const replacement = swapped[specifier];
    const isSwapped =
      replacement !== undefined &&
      (specifier !== '@petstore/core' || context.parentURL?.endsWith('/apps/server/src/gateway.ts'));
    return isSwapped
      ? { url: new URL(replacement, import.meta.url).href, format: 'module-typescript', shortCircuit: true }
      : nextResolve(specifier, context);
  },
});
