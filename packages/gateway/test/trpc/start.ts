import { createGateway } from 'trpc-gateway';
import { onTestFinished } from 'vitest';
import { serve } from '../servers.ts';
import { endpointsOf } from './clients.ts';
import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter } from './rpcRouter.ts';

/** The server of one test, with its calls and errors. */
export type Running = Awaited<ReturnType<typeof start>>;

export interface StartOptions {
  readonly maxBodySize?: number;
}

/** Creates a gateway of `createRpcRouter()`, whose calls are counted. */
export const createRpcGateway = (calls: LiveCalls, errors: string[] = [], options: StartOptions = {}) =>
  createGateway({
    router: createRpcRouter(),
    createContext: () => ({ calls }),
    maskUnexpectedErrors: false,
    trpc: { onError: ({ path, error }) => void errors.push(`${path ?? '-'} ${error.code}`) },
    document: { title: 'RPC clients', version: '0.0.0' },
    // Procedures throw on purpose: do not log their errors.
    onResponse: () => {},
    ...options,
  });

/** Starts a server for the running test. */
export async function start(options?: StartOptions) {
  const calls = new LiveCalls();
  /** The procedure path and error code of each `onError` call, in order. */
  const errors: string[] = [];
  const server = await serve(await createRpcGateway(calls, errors, options));
  onTestFinished(async () => void (await server.close({ timeoutMs: 1000, graceMs: 0 })));
  return { endpoints: endpointsOf(server), server, calls, errors };
}
