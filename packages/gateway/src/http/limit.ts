/**
 * The limits that a request may meet, as `onResponse` names them:
 * - `rate`, `failed-attempts`: 429. `in-flight`, `queue-time`, `waiting-sockets`: 503. All have `Retry-After`.
 * - `call-timeout`: 504.
 * - `body-bytes`, `response-bytes`: 413. `url-bytes`: 414. `header-bytes`: 431. The last two are the adapter's.
 * - `message-bytes` (413), `pings` and `unsent-bytes` (429) end a WebSocket: its client sent too large a message, too many
 *   pings, or does not read.
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
