import { defineConfig } from 'vitest/config';
import { FailuresAsTheyHappen } from './vitest.failures.ts';

// Tests run the packages' sources: no build in the inner loop. Node itself resolves what a test starts as a process,
// so those pass `--conditions=@petstore/source` too.
const conditions = ['@petstore/source', 'node', 'import', 'module', 'default'];

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    include: ['packages/{*/src,gateway/test}/**/*.test.ts', 'apps/*/src/**/*.test.ts'],
    reporters: ['default', new FailuresAsTheyHappen()],
    typecheck: { enabled: false },
    globalSetup: ['./packages/core/src/store/mongodb/testing/globalSetup.ts'],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
