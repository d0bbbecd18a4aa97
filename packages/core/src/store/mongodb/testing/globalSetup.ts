/*
 * For `globalSetup` of vitest's configuration: says once, after the results, that the tests of the MongoDB store did not
 * run. Each of their files skips them; with `REQUIRE_MONGODB`, as in CI, they fail.
 */
export function teardown(): void {
  if (process.env['MONGODB_URI'] !== undefined) return;
  process.stderr.write(
    '\nSKIPPED: every test of the MongoDB store, since MONGODB_URI names no server. `.ci/mongo up` starts one.\n',
  );
}
