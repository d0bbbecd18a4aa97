/**
 * Thrown by `createGateway` for an invalid router or invalid options. The message has one line per problem, with the
 * fix.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
}
