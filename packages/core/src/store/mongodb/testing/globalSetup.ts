/*
 * A `globalSetup` of vitest: reports after the results if the tests of the MongoDB store were skipped. Each of their files
 * skips them without `MONGODB_URI`. With `REQUIRE_MONGODB`, as in CI, they fail instead.
 */
export function teardown(): void {
  if (process.env['MONGODB_URI'] !== undefined) return;
  process.stderr.write(
    '\nSKIPPED: every test of the MongoDB store, since MONGODB_URI names no server. `.ci/mongo up` starts one.\n',
  );
}
