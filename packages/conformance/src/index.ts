/**
 * What every server of the pet store must do. Not here, because nothing serves it yet, or because no client can bring
 * it about over a healthy server's wire:
 *
 * - CORS; 429 and the rate limit headers; issuing and revoking keys and how soon that takes effect
 * - streams, SSE and WebSocket on the tRPC protocol
 * - the docs page
 * - request framing and other raw-socket cases, 414 and 431 among them
 * - 500, 503 and 504 with `Retry-After`: a store that fails is in the tests of the gateway and the server
 */
export { petStoreConformance } from './petStore.ts';
export type { ConformanceOptions, Serve, Served, ServeOptions } from './serve.ts';
