/**
 * What `createGateway` throws where the router or the options cannot be served as they are. Its message is one line for
 * each problem, with the fix.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
}
