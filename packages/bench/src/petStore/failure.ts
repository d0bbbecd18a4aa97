import type { z } from 'zod';

/** A rejected call, with its response. It is no `Error`: capturing a stack costs more than the rest of the call. */
export class Failure {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** tRPC's number for the code. */
  readonly rpcCode: number;

  constructor(code: string, status: number, message: string, rpcCode: number) {
    this.code = code;
    this.status = status;
    this.message = message;
    this.rpcCode = rpcCode;
  }

  /** The body of a REST response. */
  toJSON() {
    const { code, message, status } = this;
    return { code, message, status };
  }
}

export const notFound = new Failure('NOT_FOUND', 404, 'There is no animal with this id.', -32_004);
export const unauthorized = new Failure('UNAUTHORIZED', 401, 'The API key is not valid.', -32_001);
export const nowhere = new Failure('NOT_FOUND', 404, 'There is no route at this path.', -32_004);
export const malformed = new Failure('BAD_REQUEST', 400, 'The body is not valid JSON.', -32_700);
export const invalid = ({ issues }: Pick<z.ZodError, 'issues'>): Failure =>
  new Failure(
    'BAD_REQUEST',
    400,
    issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    -32_600,
  );
