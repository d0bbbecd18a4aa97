import type { TRPCRequestInfo } from '@trpc/server/http';
import type { HttpRequest } from '../http/request.ts';
import type { ResponseControls } from './responseControls.ts';

/**
 * What `createContext` receives. It is called once per REST call, once per tRPC request (a batch is one request), and
 * once per WebSocket, with the request that opened it.
 */
export interface ContextOptions<Identity> {
  readonly request: HttpRequest;
  /** What the scheme's `verify` returned; `undefined` without `authentication`, or for a public operation without a valid credential. */
  readonly identity: Identity | undefined;
  /** Sets the status and headers of the response. */
  readonly response: ResponseControls;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /**
   * The `Idempotency-Key` of a REST call or a single tRPC call, if the procedure's metadata has `idempotencyKey`,
   * beside `openapi` or in it: 1 to 255 visible ASCII characters.
   */
  readonly idempotencyKey: string | undefined;
  /** What tRPC knows about the request; `undefined` for a REST call. */
  readonly info: TRPCRequestInfo | undefined;
}
