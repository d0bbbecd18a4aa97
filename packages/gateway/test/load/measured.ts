/** Returns whether Node was started with this module. */
export const isCommand = (meta: ImportMeta): boolean => process.argv[1] === meta.filename;

/** Prints the measurements to stdout and the problems to stderr. Sets the exit code to 1 if there are any. */
export function finish(measured: object, problems: readonly string[]): void {
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
  for (const problem of problems) process.stderr.write(`Problem: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
