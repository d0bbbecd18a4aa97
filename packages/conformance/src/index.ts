/**
 * The test suite that every server of the pet store must pass. It leaves out what no server offers yet, and what a client
 * cannot trigger on a healthy server:
 *
 * - CORS; 429 and the rate limit headers; issuing and revoking keys, and how soon that takes effect
 * - streams, SSE and WebSocket on the tRPC protocol
 * - the docs page
 * - HTTP itself: framing, methods, media types and paths in all their forms. `packages/gateway/test` covers them on every
 *   adapter; the cases here check one or two forms of each
 * - 500, 503 and 504 with `Retry-After`: the tests of the gateway and the server cover failing stores
 */
export { petStoreConformance } from './petStore.ts';
export type { Serve, Served, ServeOptions } from './serve.ts';
