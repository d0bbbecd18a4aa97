/** Limits of a request or a call that the author of a service sets. `Infinity` disables a limit. */
export interface Limits {
  /** The largest request body and message of a WebSocket, in bytes. Larger ones get 413. Default: 1048576 (1 MiB). */
  readonly maxBodySize: number;
  /**
   * The largest JSON response, in bytes. A larger one is replaced by a 413; its call has already run.
   * - In a tRPC batch the limit applies to all results together. The result that exceeds it, and every later one, is a
   *   413.
   * - So it does to the results of a WebSocket message, which may be a batch.
   * - JSON lines and events are limited one by one, because clients read them one by one.
   * - Errors count too. One that is too large is a 413; those of up to 1,000 bytes are always sent.
   * - Byte responses (`produces`) and `routes` are not limited.
   *
   * Default: 16777216 (16 MiB), far above any page of a list. Serializing more blocks the event loop for a tenth of a
   * second.
   */
  readonly maxResponseSize: number;
  /**
   * The largest number of concurrent calls, over REST and tRPC together. Further calls are rejected with 503
   * immediately, because otherwise all calls would become slow. Each call of a batch counts, and so does each
   * credential that is being verified. A batch with more calls than this is 400.
   * Subscriptions and streams count until they start. Default: 1000.
   */
  readonly maxInFlight: number;
  /**
   * Load shedding: the longest time that a request may wait before the server reads it, in milliseconds. After requests
   * have waited longer for half a second, those that do are rejected with 503, before authentication; a single burst is
   * served completely. `OPTIONS`, `routes` and WebSocket messages are never rejected.
   *
   * Default: Infinity (off), because the right value depends on the cost of a call: a queue of 50 ms holds 1,000 calls
   * of 50 µs, or 5 calls of 10 ms.
   */
  readonly maxQueueMs: number;
  /**
   * The timeout of a call including `createContext`, and of the verification of a credential, in milliseconds. A call
   * that exceeds it gets 504, its `signal` aborts, and it no longer counts for `maxInFlight`. In a tRPC response of
   * JSON lines, each line is a call. Subscriptions, and streams that have started, have no timeout. Default: 30000:
   * proxies usually wait for 60 s, and a client that has waited for 30 s has usually gone.
   */
  readonly callTimeoutMs: number;
}

/** Limits that no service has to choose. */
const fixedLimits = (maxBodySize: number) => ({
  /** Parameters in a query string or fields of a form, as in qs and PHP: far above any form. More are rejected with 400. */
  maxQueryParameters: 1000,
  /**
   * The deepest nesting of arrays and objects in an input, over REST and tRPC: far above any real schema, and far below
   * the depth at which recursive code overflows the stack. A deeper input is rejected with 400. Parts of a body that are
   * not read are not checked.
   */
  maxJsonDepth: 100,
  /**
   * The largest number of arrays and objects in an input; in an object with more than 1,000 names, each name counts. zod
   * takes 1 to 2 µs for each of them, and 1 MiB of JSON can have 350,000. More are rejected with 400.
   */
  maxJsonContainers: Math.max(65_536, Math.floor(maxBodySize / 16)),
});

export type AllLimits = Limits & Readonly<ReturnType<typeof fixedLimits>>;

/** The longest string of V8 (`buffer.constants.MAX_STRING_LENGTH` in Node 22). */
export const maxStringLength = 2 ** 29 - 24;

/** Returns all limits, with defaults for those that the options leave out. */
export const limitsOf = ({
  maxBodySize = 1_048_576,
  maxResponseSize = 16_777_216,
  maxInFlight = 1000,
  maxQueueMs = Infinity,
  callTimeoutMs = 30_000,
}: Partial<Limits>): AllLimits => ({
  maxBodySize,
  maxResponseSize: Math.min(maxResponseSize, maxStringLength),
  maxInFlight,
  maxQueueMs,
  callTimeoutMs,
  ...fixedLimits(maxBodySize),
});
