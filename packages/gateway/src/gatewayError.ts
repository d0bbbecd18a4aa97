/** What `createGateway` throws: the router or the options cannot be served as they are. One sentence, with the remedy. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
}
