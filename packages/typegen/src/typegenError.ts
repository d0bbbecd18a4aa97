// Without imports: it is in the process that reads types.

/** Thrown if types cannot be generated. The message names the procedure, the field and the fix. */
export class TypegenError extends Error {
  override readonly name = 'TypegenError';
}
