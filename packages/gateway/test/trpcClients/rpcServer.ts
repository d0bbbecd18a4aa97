import type { AnyTRPCRouter } from '@trpc/server';
import type { HTTPBaseHandlerOptions, TRPCRequestInfo } from '@trpc/server/http';
import type { Fetch } from '../fetch.ts';

/** Options that the suite passes to a server. Omitted options have the server's own defaults. */
export interface TrpcOptions {
  readonly router: AnyTRPCRouter;
  /** Receives tRPC's `info`, or `undefined` for a REST call. */
  readonly createContext: (info: TRPCRequestInfo | undefined) => object | Promise<object>;
  /** Default: `/trpc`. */
  readonly basePath?: `/${string}`;
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly trpc?: Pick<
    HTTPBaseHandlerOptions<AnyTRPCRouter, unknown>,
    'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta' | 'onError'
  >;
  readonly maxBodyBytes?: number;
  readonly keepAlive?: { readonly enabled: boolean; readonly pingMs: number; readonly pongWaitMs: number };
}

/** A running server of HTTP and WebSockets. */
export interface RpcServer {
  readonly origin: string;
  readonly fetch: Fetch;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Requests every WebSocket client to reconnect. */
  broadcastReconnect(): void;
  /** Closes streams and sockets and releases the port. */
  close(): Promise<void>;
}

/** Starts a server. The suite runs against any implementation. */
export type ServeRpc = (options: TrpcOptions) => Promise<RpcServer>;
