import type { AnyTRPCRouter } from '@trpc/server';
import type { HTTPBaseHandlerOptions, TRPCRequestInfo } from '@trpc/server/http';
import type { Encoder } from '@trpc/client';
import type { Fetch } from '../fetch.ts';

/** What the suite asks of a server. What is left out has each server's own default. */
export interface RpcOptions {
  readonly router: AnyTRPCRouter;
  /** Given what tRPC tells every adapter: `undefined` for a REST call. */
  readonly createContext: (info: TRPCRequestInfo | undefined) => object | Promise<object>;
  /** Default: `/trpc`. */
  readonly basePath?: `/${string}`;
  /** 0: any free port. */
  readonly port?: number;
  readonly rpc?: Pick<
    HTTPBaseHandlerOptions<AnyTRPCRouter, unknown>,
    'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta' | 'onError'
  >;
  readonly maxBodyBytes?: number;
  /** The largest WebSocket message. */
  readonly maxMessageBytes?: number;
  readonly keepAlive?: { readonly enabled: boolean; readonly pingMs: number; readonly pongWaitMs: number };
  readonly encoder?: Encoder;
}

/** A server of HTTP and WebSockets, as its clients reach it. */
export interface RpcServer {
  readonly origin: string;
  readonly fetch: Fetch;
  /** Of 127.0.0.1. */
  readonly port: number;
  /** Tells every WebSocket client to connect anew. */
  broadcastReconnect(): void;
  /** Ends streams and sockets, and gives the port back. */
  close(): Promise<void>;
}

/** Starts a server: the suite runs over any. */
export type ServeRpc = (options: RpcOptions) => Promise<RpcServer>;
