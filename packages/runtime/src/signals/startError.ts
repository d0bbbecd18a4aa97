/** The process cannot do what it was started for. The message is a sentence for operators, printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
