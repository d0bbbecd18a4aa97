import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { onTestFinished } from 'vitest';
import type { Fetch } from '../fetch.ts';
import { type Endpoints, endpointsOf } from './clients.ts';
import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter, seenInfo, type SeenInfo, type StreamOptions } from './rpcRouter.ts';

/** Options that the suite passes to a server. Omitted options have the server's own defaults. */
interface TrpcOptions {
  readonly router: AnyTRPCRouter;
  /** Receives tRPC's `info`, or `undefined` for a REST call. */
  readonly createContext: (info: TRPCRequestInfo | undefined) => object | Promise<object>;
  readonly onError?: (failed: { readonly path: string | undefined; readonly error: TRPCError }) => void;
  readonly maxBodySize?: number;
}

/** A running server of HTTP and WebSockets. */
interface RpcServer {
  readonly origin: string;
  readonly fetch: Fetch;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Closes streams and sockets and releases the port. */
  close(): Promise<void>;
}

/** Starts a server. The suite runs against any implementation. */
export type ServeRpc = (options: TrpcOptions) => Promise<RpcServer>;

/** The server of one test, with its calls, contexts and errors. */
export interface Running {
  readonly endpoints: Endpoints;
  readonly server: RpcServer;
  readonly calls: LiveCalls;
  /** The `info` of each `createContext` call, in order. */
  readonly contexts: SeenInfo[];
  /** The procedure path and error code of each `onError` call, in order. */
  readonly errors: string[];
}

export interface StartOptions extends Partial<Omit<TrpcOptions, 'createContext' | 'onError'>> {
  readonly streams?: StreamOptions;
  /** Called by `createContext`. An error thrown here is thrown by `createContext`. */
  readonly admit?: (info: TRPCRequestInfo | undefined) => void;
}

/** Starts a server for the running test. Default router: `createRpcRouter()`. */
export type Start = (options?: StartOptions) => Promise<Running>;

export const startWith =
  (serve: ServeRpc): Start =>
  async ({ streams, admit, ...options } = {}) => {
    const calls = new LiveCalls();
    const contexts: SeenInfo[] = [];
    const errors: string[] = [];
    const server = await serve({
      router: createRpcRouter(streams),
      ...options,
      createContext: (info) => {
        const seen = seenInfo(info);
        contexts.push(seen);
        admit?.(info);
        return { calls, seen };
      },
      onError: ({ path, error }) => void errors.push(`${path ?? '-'} ${error.code}`),
    });
    onTestFinished(() => server.close());
    return {
      endpoints: endpointsOf(server),
      server,
      calls,
      contexts,
      errors,
    };
  };
