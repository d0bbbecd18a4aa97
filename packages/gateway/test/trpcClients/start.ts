import type { TRPCRequestInfo } from '@trpc/server/http';
import { onTestFinished } from 'vitest';
import { type Endpoints, endpointsOf } from './clients.ts';
import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter, seenInfo, type SeenInfo, type StreamOptions } from './rpcRouter.ts';
import type { ServeRpc, TrpcOptions, RpcServer } from './rpcServer.ts';

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

export interface StartOptions extends Partial<Omit<TrpcOptions, 'createContext'>> {
  readonly streams?: StreamOptions;
  /** Called by `createContext`. An error thrown here is thrown by `createContext`. */
  readonly admit?: (info: TRPCRequestInfo | undefined) => void;
}

/** Starts a server for the running test. Default router: `createRpcRouter()`. */
export type Start = (options?: StartOptions) => Promise<Running>;

export const startWith =
  (serve: ServeRpc): Start =>
  async ({ streams, admit, trpc, ...options } = {}) => {
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
      trpc: {
        ...trpc,
        onError: ({ path, error }) => {
          errors.push(`${path ?? '-'} ${error.code}`);
        },
      },
    });
    onTestFinished(() => server.close());
    return {
      endpoints: endpointsOf(server, options.basePath ?? '/trpc'),
      server,
      calls,
      contexts,
      errors,
    };
  };
