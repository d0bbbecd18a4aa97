import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { onTestFinished } from 'vitest';
import type { Fetch } from '../listen.ts';
import { type Endpoints, endpointsOf } from './clients.ts';
import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter } from './rpcRouter.ts';

/** Options that the suite passes to a server. Omitted options have the server's own defaults. */
interface TrpcOptions {
  readonly router: AnyTRPCRouter;
  readonly createContext: () => object;
  readonly onError?: (failed: { readonly path: string | undefined; readonly error: TRPCError }) => void;
  readonly maxBodySize?: number;
}

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

/** The server of one test, with its calls and errors. */
export interface Running {
  readonly endpoints: Endpoints;
  readonly server: RpcServer;
  readonly calls: LiveCalls;
  /** The procedure path and error code of each `onError` call, in order. */
  readonly errors: string[];
}

export type StartOptions = Partial<Pick<TrpcOptions, 'maxBodySize' | 'router'>>;

/** Starts a server for the running test. Default router: `createRpcRouter()`. */
export type Start = (options?: StartOptions) => Promise<Running>;

export const startWith =
  (serve: ServeRpc): Start =>
  async (options) => {
    const calls = new LiveCalls();
    const errors: string[] = [];
    const server = await serve({
      router: createRpcRouter(),
      ...options,
      createContext: () => ({ calls }),
      onError: ({ path, error }) => void errors.push(`${path ?? '-'} ${error.code}`),
    });
    onTestFinished(() => server.close());
    return { endpoints: endpointsOf(server), server, calls, errors };
  };
