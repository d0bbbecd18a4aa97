import type { z } from 'zod';

/** A rejected call: its fields are the body of a REST response. It is no `Error`: capturing a stack costs more than the rest of the call. */
export class Failure {
  readonly code: string;
  readonly status: number;
  readonly message: string;

  constructor(code: string, status: number, message: string) {
    this.code = code;
    this.status = status;
    this.message = message;
  }
}

export const notFound = new Failure('NOT_FOUND', 404, 'There is no animal with this id.');
export const unauthorized = new Failure('UNAUTHORIZED', 401, 'The API key is not valid.');
export const nowhere = new Failure('NOT_FOUND', 404, 'There is no route at this path.');
export const malformed = new Failure('BAD_REQUEST', 400, 'The body is not valid JSON.');
export const invalid = ({ issues }: Pick<z.ZodError, 'issues'>): Failure =>
  new Failure(
    'BAD_REQUEST',
    400,
    issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  );
