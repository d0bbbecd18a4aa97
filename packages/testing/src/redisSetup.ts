import { hasRedis } from './redis.ts';

/**
 * A `globalSetup` that reports skipped tests of Redis; with `REQUIRE_REDIS` they fail. It imports no package: Vitest 5.1
 * resolves its imports without conditions, and packages may not be built.
 */
export function teardown(): void {
  if (hasRedis) return;
  process.stderr.write(
    '\nSKIPPED: every test of Redis, which this machine does not have. `.ci/redis install` unpacks it.\n',
  );
}
