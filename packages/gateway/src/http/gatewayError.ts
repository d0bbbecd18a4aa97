/**
 * Thrown at start for an invalid router or invalid options, by `createGateway`, `serve` and others. The message has one line per problem, with the
 * fix.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
}

/**
 * Rejects a part of the router. The reason is the end of a sentence about it: where it is caught, its subject is added.
 * @throws {GatewayError}
 */
export function reject(reason: string): never {
  throw new GatewayError(reason);
}

/**
 * Runs `read`, and adds the subject of the sentence to the message of its `GatewayError`.
 * @throws {GatewayError}
 */
export function withSubject<Result>(subject: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof GatewayError ? new GatewayError(`${subject} ${error.message}`) : error;
  }
}
