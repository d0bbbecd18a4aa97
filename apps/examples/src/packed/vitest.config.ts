import { defineConfig } from 'vitest/config';

// `npm run check:packed`: apart from the other tests, since it installs packages from the registry.
export default defineConfig({
  test: {
    root: new URL('../../../..', import.meta.url).pathname,
    include: ['apps/examples/src/packed/*.packed.ts'],
    // Packages are packed once by each file, and a build has one writer.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
