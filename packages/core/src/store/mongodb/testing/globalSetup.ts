// Reports tests skipped without `MONGODB_URI` after the results. `REQUIRE_MONGODB` (CI) makes them fail.
export function teardown(): void {
  if (process.env['MONGODB_URI'] !== undefined) return;
  process.stderr.write(
    '\nSKIPPED: every test of the MongoDB store, since MONGODB_URI names no server. `.ci/mongo up` starts one.\n',
  );
}
