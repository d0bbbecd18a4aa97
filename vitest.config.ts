import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { type Adapter, adapters } from './packages/gateway/test/adapters.ts';
import { isTrpcBefore } from './packages/testing/src/olderTrpc.ts';
import { measureSlowness } from './packages/testing/src/slowness.ts';
import FailuresAsTheyHappen from './packages/testing/src/failuresAsTheyHappen.ts';

// Tests run the packages' sources: no build in the inner loop. Node itself resolves what a test starts as a process,
// so those pass `--conditions=trpc-gateway-source` too.
const conditions = ['trpc-gateway-source', 'node', 'import', 'module', 'default'];

// One seed for every property test of a run; vitestSetup.ts gives it to fast-check.
process.env['TEST_SEED'] ??= String(randomInt(2 ** 31));

// Before the tests, which make the machine busy themselves.
const slowness = measureSlowness();
process.env['TEST_SLOWNESS'] = String(slowness);

// In a process of its own: the adapter sets an environment variable, which the tests would inherit.
const probe = `await import('./packages/gateway/src/adapters/uws/addon.ts').catch((error) => {
  if (error.code !== 'no-binary') throw error;
  console.log(error.message);
})`;
const noUwsReason = execFileSync(
  process.execPath,
  ['--conditions=trpc-gateway-source', '--input-type=module', '-e', probe],
  { cwd: import.meta.dirname, encoding: 'utf8' },
);
// `hasUws` of packages/testing reads it.
delete process.env['WITHOUT_UWS'];
const hasUws = noUwsReason === '';
if (!hasUws) {
  if (process.env['REQUIRE_UWS'] !== undefined) throw new Error(noUwsReason);
  process.stdout.write(`SKIPPED: tests of uWebSockets.js. ${noUwsReason}`);
  process.env['WITHOUT_UWS'] = '1';
}

const repository = ['packages/gateway/src/layers.test.ts', 'apps/examples/src/readmes/citations.test.ts'];
const documents = ['apps/examples/src/readmes/*Readme*.test.ts'];

/** Most files wait more than they compute. With 8 on two cores, deadlines of tests passed on a slow machine. */
const leastWorkers = 6;

/** Tests of faults, load and browsers, more than half of the time of all: they run with `PETSTORE_TESTS` only. */
const longTests = [
  'apps/examples/src/answers/{answers,pages.browser,resync.browser}',
  'apps/examples/src/oneLogin/pages.browser',
  'packages/embedded-store/src/{damage,fullDisk,processes}',
  'packages/faults/src/real/faults',
  'packages/gateway/src/adapters/serve/floods',
  'packages/gateway/test/credentials/jwt',
  'packages/gateway/test/load/*',
  'packages/runtime/src/tls/certificateReload',
  'apps/server/src/commands/copy',
  'apps/server/test/conformance/conformance',
  'apps/server/test/process/failedStore',
  'apps/server/test/docs/docsPage.browser',
].map((name) => `${name}.test.ts`);
/** Tests whose routers declare errors by `.errors()`, which tRPC has since 11.22.1. */
const declaringTests = [
  'gateway/src/policies/idempotencyResponses',
  'gateway/src/protocols/mcp/tools',
  'gateway/src/protocols/rest/errorResponse',
  'gateway/test/errors/{declaredErrors,mapError,maskedErrors}',
  'gateway/test/generatedClients/composed',
  'gateway/test/rest/events',
  'typegen/src/generateTypes',
].map((name) => `packages/${name}.test.ts`);
const notNow = [
  ...(isTrpcBefore('11.22.1') ? declaringTests : []),
  ...(process.env['PETSTORE_TESTS'] === undefined ? longTests : []),
  ...(hasUws ? [] : ['packages/gateway/src/adapters/uws/!(addon).test.ts']),
];

/** Files that take 15 s or more. Vitest starts with the longest texts, and most of these are short. */
const slow = [
  'packages/gateway/test/credentials/jwt',
  'packages/gateway/test/adapters/bun',
  'packages/gateway/test/load/',
  'packages/gateway/test/sockets/',
  'packages/gateway/test/trpc/',
  'packages/core/src/store/',
  'packages/embedded-store/src/',
  'packages/faults/src/real/',
  'packages/runtime/src/',
  'packages/shared/src/state/',
  'apps/server/test/mongodb/',
  'apps/server/test/conformance/',
  'apps/server/test/docs/',
  'apps/server/test/process/',
];

/** Starts with the slow files, so that a run does not end with one file and idle workers. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slow.some((path) => moduleId.includes(path));
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const mongodb = './packages/core/src/store/mongodb/testing/globalSetup.ts';
const redis = './packages/testing/src/redisSetup.ts';
const bundle = './packages/testing/src/bundledPrograms.ts';
const bundleOfLong = process.env['PETSTORE_TESTS'] === undefined ? [] : [bundle];

/** A project has the name by which `vitest run --project` of a package's script knows it. */
const project = (
  name: string,
  include: readonly string[],
  globalSetup: readonly string[] = [],
  exclude: readonly string[] = [...repository, ...documents],
): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [...include], exclude: [...exclude, ...notNow], globalSetup: [...globalSetup] },
});

const suites = 'packages/gateway/test/';
const longForm = process.env['PETSTORE_TESTS'] === 'long';
const runSeed = Number(process.env['TEST_SEED']);
/** The adapters that have all suites of what an adapter does with `PETSTORE_TESTS=all`: `fetch` in every second run. */
const fullAdapters: readonly Adapter[] = runSeed % 2 === 0 ? ['node'] : ['node', 'fetch'];

/** The suites that run over another adapter too: some of each kind, more on `fullAdapters`, all in the long form. */
const otherSuites = (adapter: Adapter) =>
  [
    'adapters/adapterDifferences',
    'compression/{negotiation,streams}',
    'trpc/clients',
    'credentials/forgedRequests',
    'hooks/{hooks,requestRecords}',
    'limits/limits',
    'mcp/{calls,clients,stopping}',
    'rest/inputs',
    'stops/stops',
    'sockets/{resubscribe,stopping}',
    ...(process.env['PETSTORE_TESTS'] === undefined || !fullAdapters.includes(adapter)
      ? []
      : [
          'compression/openStreams',
          'limits/!(inputCost)',
          'load/*',
          'rest/streams',
          'sockets/*',
          'trpc/*',
          'uploads/bytes',
          'wire/{fuzz,rawHttp}',
        ]),
    ...(longForm ? ['**/*'] : []),
  ].map((name) => `${suites}${name}.test.ts`);

/** The adapter that a run floods, which takes minutes: the other one in every second run. */
const flooded: Adapter = hasUws && runSeed % 2 === 0 ? 'uws' : 'node';

function suitesOver(adapter: Adapter): TestProjectInlineConfiguration {
  const { test, ...rest } = project(
    `gateway-test:${adapter}`,
    adapter === (hasUws ? 'uws' : 'node') ? [`${suites}**/*.test.ts`] : otherSuites(adapter),
    adapter === flooded ? bundleOfLong : [],
    // Floods need a port, which `fetch` does not have.
    adapter === flooded || (longForm && adapter !== 'fetch') ? [] : [`${suites}load/floods.test.ts`],
  );
  return { ...rest, test: { ...test, env: { ADAPTER: adapter } } };
}

const projects = [
  project('gateway', ['packages/gateway/src/**/*.test.ts']),
  ...adapters
    // Bun runs its own suites: packages/gateway/test/adapters/vitest.bun.config.ts.
    .filter((adapter) => adapter !== 'bun' && (adapter !== 'uws' || hasUws))
    .map(suitesOver),
  project('core', ['packages/core/src/**/*.test.ts'], [mongodb]),
  project('embedded-store', ['packages/embedded-store/src/**/*.test.ts'], [mongodb]),
  project('server', ['apps/server/{src,test}/**/*.test.ts'], [mongodb, bundle]),
  project('examples', ['apps/examples/src/**/*.test.ts']),
  project('runtime', ['packages/runtime/src/**/*.test.ts'], [bundle]),
  project('shared', ['packages/shared/src/**/*.test.ts'], [mongodb, redis]),
  project('shelter', ['apps/examples/shelter/*.test.ts'], [mongodb]),
  project('faults', ['packages/faults/src/**/*.test.ts'], [redis, ...bundleOfLong]),
  ...['bench', 'testing', 'typegen', 'types'].map((name) =>
    project(name, [`packages/${name}/src/**/*.test.ts`]),
  ),
  project('repository', repository, [], []),
  project('documents', documents, [bundle], []),
];

// In each run of the long form, the files of another project have a process each: none comes to need what another left.
const isolated = projects[runSeed % projects.length]?.test;
if (isolated && process.env['PETSTORE_TESTS'] !== undefined) isolated.isolate = true;

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    projects,
    // The files of a project share a few processes, which saves the time in which each would import zod, tRPC and the sources.
    isolate: false,
    // A line for each failure. `--reporter=default` prints a line for each file too.
    reporters: ['minimal', new FailuresAsTheyHappen()],
    sequence: { sequencer: SlowFirst },
    maxWorkers: Math.max(leastWorkers, availableParallelism() - 1),
    typecheck: { enabled: false },
    setupFiles: ['./packages/testing/src/vitestSetup.ts'],
    // On a busy machine, deadlines of tests pass: then a test is tried once more. The long form kills processes, fills disks and
    // floods servers, where a machine that has no core to spare fails in other ways too.
    retry: {
      count: 1,
      ...(process.env['PETSTORE_TESTS'] === undefined && { condition: /timed out|not within/i }),
    },
    // Long: a machine that has no core to spare is no failure, and only a test that hangs waits for it. Yet one that hangs,
    // and is repeated, is to end before a CI job does.
    testTimeout: Math.min(240_000 * slowness, 400_000),
    hookTimeout: Math.min(240_000 * slowness, 400_000),
    expect: { poll: { timeout: 30_000 * slowness } },
  },
});
