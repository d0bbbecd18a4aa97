import { hasRedis } from './redis.ts';

/**
 * A `globalSetup` of vitest: reports after the results if the tests of Redis were skipped. With `REQUIRE_REDIS` they fail.
 * Vitest 5.1 resolves the imports of a `globalSetup` without the conditions of its configuration, and packages may not be built:
 * it imports no package.
 */
export function teardown(): void {
  if (hasRedis) return;
  process.stderr.write(
    '\nSKIPPED: every test of Redis, which this machine does not have. `.ci/redis install` unpacks it.\n',
  );
}
