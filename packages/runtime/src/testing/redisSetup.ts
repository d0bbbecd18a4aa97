import { hasRedis } from '@petstore/testing/redis';

/** A `globalSetup` of vitest: reports after the results if the tests of Redis were skipped. With `REQUIRE_REDIS` they fail. */
export function teardown(): void {
  if (hasRedis) return;
  process.stderr.write(
    '\nSKIPPED: every test of Redis, which this machine does not have. `.ci/redis install` unpacks it.\n',
  );
}
