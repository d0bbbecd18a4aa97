const statuses = { NOT_FOUND: 404, FORBIDDEN: 403, CONFLICT: 409 } as const;

/** An error that the help desk shows to its users. Procedures throw it in place of a `TRPCError`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: keyof typeof statuses;
  /** What the page of the help desk shows next to the message. */
  readonly hint: string | undefined;

  constructor(code: keyof typeof statuses, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  get status(): number {
    return statuses[this.code];
  }
}
