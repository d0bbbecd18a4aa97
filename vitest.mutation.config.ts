import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Stryker copies the repository to a sandbox whose node_modules are links: the packages' names must lead to the copy, or no
// mutant would be run.
const packages = new URL('packages/', import.meta.url);
const alias = [...readdirSync(packages), 'gateway/test'].flatMap((folder) => {
  const base = new URL(`${folder}/`, packages);
  const { name, exports = {} } = JSON.parse(readFileSync(new URL('package.json', base), 'utf8')) as {
    readonly name: string;
    readonly exports?: Readonly<Record<string, string | { readonly 'trpc-gateway-source': string }>>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            find: new RegExp(`^${name}${path.slice(1)}$`),
            replacement: new URL(target['trpc-gateway-source'], base).pathname,
          },
        ],
  );
});

// Stryker runs the tests in worker threads, where what `adapters/uws/addon.ts` sets does not reach uWebSockets.js.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '49152';

/** Runs the tests beside a module before those of the whole: a mutant's run ends with the first test that fails. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer
    const sorted = await super.sort(files);
    const isNear = ({ moduleId }: TestSpecification) => moduleId.includes('/packages/gateway/src/');
    return [...sorted.filter(isNear), ...sorted.filter((file) => !isNear(file))];
  }
}

export default defineConfig({
  resolve: { alias, conditions: ['node', 'import', 'module', 'default'] },
  test: {
    include: [
      'packages/gateway/src/{auth,calls,http,openapi,operations,policies,procedures,protocols,state}/**/*.test.ts',
      'packages/gateway/src/gateway.test.ts',
      'packages/gateway/test/{anyRouter,differential,edge,parity}/**/*.test.ts',
      'packages/gateway/test/trpcClients/differences.test.ts',
      'packages/conformance/src/parity/**/*.test.ts',
    ],
    exclude: [
      // They start processes, or set what only a process can set: the time zone.
      'packages/gateway/test/edge/tracing.test.ts',
      'packages/gateway/src/openapi/operationDescription.test.ts',
    ],
    sequence: { sequencer: NearestFirst },
    // The same values in each run, so that a mutant does not live by chance in one and die in another.
    env: { TEST_SEED: '1', MUTATION_TEST: 'true' },
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
