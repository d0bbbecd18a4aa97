import type { TRPCRequestInfo } from '@trpc/server/http';
import type { HttpRequest } from '../http/request.ts';
import type { Reply } from './reply.ts';

/**
 * What `createContext` is given: once per REST call, once per tRPC request (a batch is one request), and once per
 * WebSocket, whose request is the one that opened it.
 */
export interface ContextOptions<Identity> {
  readonly request: HttpRequest;
  /** What `authenticate` returned; `undefined` without `authenticate`, or where a public operation had no good credential. */
  readonly identity: Identity | undefined;
  /** What the procedure may say about its answer beyond its output. */
  readonly reply: Reply;
  /** The `X-Request-Id` of the answer. */
  readonly requestId: string;
  /**
   * The `Idempotency-Key` of a REST call, or of a single tRPC call, whose procedure takes one (`idempotencyKey` in its
   * metadata): 1 to 255 visible ASCII characters.
   */
  readonly idempotencyKey: string | undefined;
  /** What tRPC knows about the request; `undefined` for a REST call. */
  readonly info: TRPCRequestInfo | undefined;
}
