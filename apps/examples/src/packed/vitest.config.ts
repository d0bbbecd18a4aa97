import { defineConfig } from 'vitest/config';

// `npm run check:packed -w @petstore/examples`: separate from the other tests, because it installs from the registry.
// The tests' own tools have no build; what they test is packed from builds.
const conditions = ['trpc-gateway-source', 'node', 'import', 'module', 'default'];

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    root: new URL('../../../..', import.meta.url).pathname,
    include: ['apps/examples/src/packed/*.packed.ts'],
    globalSetup: ['apps/examples/src/packed/globalSetup.ts'],
    maxWorkers: 3,
    // `.ci/run` runs it behind its tests.
    testTimeout: 1_800_000,
    maxConcurrency: 3,
    hookTimeout: 1_200_000,
  },
});
