/** Thrown if a command cannot be executed. Its message is written for the user of the command line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
