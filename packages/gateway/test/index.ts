/** Test tools for the suites of other packages: a client that checks every response. */
export { type TestResponse, type Client, connect, type SendOptions } from './client.ts';
