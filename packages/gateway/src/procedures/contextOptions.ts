import type { TRPCRequestInfo } from '@trpc/server/http';
import type { HttpRequest } from '../http/request.ts';
import type { ResponseControls } from '../http/response.ts';
import type { Via } from './via.ts';

/**
 * The options of `createContext`, which is called once per REST call, once per tRPC request (a batch is one request),
 * and once per WebSocket, with the request that opened it.
 */
export interface ContextOptions<Identity, Data extends object = object> {
  /**
   * The HTTP request: `request.header('user-agent')` reads a header, by its name in lower case; `path` is not decoded;
   * behind a proxy, `remoteAddress()` is the proxy's. On a WebSocket, the request that opened it.
   */
  readonly request: HttpRequest;
  /**
   * The identity that the scheme's `verify` returned. `undefined` without `authentication`, and for a procedure with
   * `protect: false` that is called without a valid credential.
   */
  readonly identity: Identity | undefined;
  /** Through what the caller acts: the protocol, the tool, the client. */
  readonly via: Via;
  /** Sets the status and headers of the response. */
  readonly response: ResponseControls;
  /** The request id, which the response has as `X-Request-Id`. */
  readonly requestId: string;
  /** Data that the policies of the service (`policies`) have set. */
  readonly data: Partial<Data>;
  /**
   * The `Idempotency-Key` of a REST call, a call of a tool or a single tRPC call, if the procedure's metadata has
   * `idempotencyKey`. 1 to 255 visible ASCII characters.
   */
  readonly idempotencyKey: string | undefined;
  /** tRPC's request info: its calls, type and connection parameters. `undefined` for a REST call. */
  readonly info: TRPCRequestInfo | undefined;
}
