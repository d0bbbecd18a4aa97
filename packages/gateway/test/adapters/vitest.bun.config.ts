import { defineConfig } from 'vitest/config';
import FailuresAsTheyHappen from '../../../testing/src/failuresAsTheyHappen.ts';
import { bunDifferences } from '../bunDifferences.ts';

// `bun --bun node_modules/vitest/vitest.mjs run -c` and this file's path, in the root, as bun.test.ts does it.

const conditions = ['trpc-gateway-source', 'node', 'import', 'module', 'default'];
const literal = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
const differing = Object.values(bunDifferences).flat().map(literal);

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    include: [
      'packages/gateway/src/adapters/{bun,serve}/*.test.ts',
      'packages/gateway/src/procedures/execute.test.ts',
      'packages/gateway/test/{adapters/adapterDifferences,rest/inputs,sockets/{resubscribe,stopping},trpc/clients}.test.ts',
      'packages/gateway/test/{credentials/{forgedRequests,queryCredential},stops/*}.test.ts',
      'packages/gateway/test/{errors/{mapError,maskedErrors},hooks/{callErrors,hooks,requestRecords}}.test.ts',
      'packages/gateway/test/compression/{negotiation,streams}.test.ts',
      'packages/gateway/test/{limits/!(inputCost),policies/{cors,idempotencyKey}}.test.ts',
      'packages/gateway/test/rest/{emptyResponses,mediaTypes,methods,responseHeaders}.test.ts',
      'packages/gateway/test/mcp/{calls,clients,credentials,stopping,wire}.test.ts',
    ],
    // Bun's parser rejects such requests itself.
    exclude: ['packages/gateway/src/adapters/serve/rejections.test.ts'],
    testNamePattern: new RegExp(`^(?!.*(?:${differing.join('|')}))`),
    env: { ADAPTER: 'bun' },
    // Bun lacks what Vitest needs to start processes.
    pool: 'threads',
    maxWorkers: 2,
    // As in vitest.config.ts: each file would import the gateway again.
    isolate: false,
    // Tests have deadlines, and the machine may be slow.
    retry: 1,
    reporters: ['minimal', new FailuresAsTheyHappen()],
    setupFiles: ['./packages/testing/src/vitestSetup.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
