/**
 * Names of the limits that a request can exceed, in the records of `onResponse`, and their statuses:
 * - `rate`, `failed-attempts`: 429. `in-flight`, `queue-time`, `waiting-sockets`: 503. All with `Retry-After`.
 * - `call-timeout`: 504.
 * - `body-bytes`, `response-bytes`: 413. `url-bytes`: 414. `header-bytes`: 431. The adapter enforces the last two.
 * - `message-bytes` (413), `pings` and `unsent-bytes` (429) close a WebSocket: the client sent a message that is too
 *   large or too many pings, or does not read.
 * - `query-parameters`, `batch-size`, `json-depth`: 400.
 */
export type Limit =
  | 'batch-size'
  | 'body-bytes'
  | 'call-timeout'
  | 'failed-attempts'
  | 'header-bytes'
  | 'in-flight'
  | 'json-depth'
  | 'message-bytes'
  | 'pings'
  | 'query-parameters'
  | 'queue-time'
  | 'rate'
  | 'response-bytes'
  | 'unsent-bytes'
  | 'url-bytes'
  | 'waiting-sockets';
