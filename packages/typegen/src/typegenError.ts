/**
 * What `generateTypes` and `petstore-typegen` throw where a router's types cannot be printed. Its message is one sentence
 * with the procedure, the field and the fix.
 */
export class TypegenError extends Error {
  override readonly name = 'TypegenError';
}
