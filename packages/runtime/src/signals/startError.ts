/** Thrown if the process cannot start. Its message is written for operators and printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
