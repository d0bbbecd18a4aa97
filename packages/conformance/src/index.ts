/**
 * The test suite that every server of the pet store must pass. It leaves out what no server offers yet, and what a client
 * cannot trigger on a healthy server:
 *
 * - CORS; 429 and the rate limit headers; issuing and revoking keys, and how soon that takes effect
 * - streams, SSE and WebSocket on the tRPC protocol
 * - the docs page
 * - request framing and other raw-socket cases, 414 and 431 among them
 * - 500, 503 and 504 with `Retry-After`: the tests of the gateway and the server cover failing stores
 */
export { petStoreConformance } from './petStore.ts';
export type { ConformanceOptions, Serve, Served, ServeOptions } from './serve.ts';
