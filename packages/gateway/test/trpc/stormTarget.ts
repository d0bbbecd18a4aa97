import { collectGarbage } from '@petstore/testing/collectGarbage';
/** A server of `createRpcRouter`, started by `startPinned`. It answers each message with what it holds. */
import { respondToParent } from '../load/pinned.ts';
import { serveGateway } from './gatewayServer.ts';
import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter } from './rpcRouter.ts';

export interface Held {
  readonly port: number;
  /** JavaScript's heap and external memory in bytes, after a garbage collection. */
  readonly heap: number;
  readonly liveCalls: number;
  readonly callsSoFar: number;
}

const calls = new LiveCalls();
const { port } = await serveGateway({
  router: createRpcRouter(),
  createContext: () => ({ calls }),
});

respondToParent(async () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return {
    port,
    heap: heapUsed + external,
    liveCalls: calls.count,
    callsSoFar: calls.total,
  } satisfies Held;
});
