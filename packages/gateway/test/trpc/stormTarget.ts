import { collectGarbage } from '@petstore/testing/collectGarbage';
/** A server of `createRpcRouter`, started by `startPinned`. It answers each message with what it holds. */
import { respondToParent } from '../load/pinned.ts';
import { LiveCalls } from './rpcRouter.ts';
import { serveGateway } from './rpcServers.ts';

export interface Held {
  readonly port: number;
  /** JavaScript's heap and external memory in bytes, after a garbage collection. */
  readonly heap: number;
  readonly running: number;
  readonly started: number;
}

const calls = new LiveCalls();
const { port } = await serveGateway({ calls, onError() {} });

respondToParent(async () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  const { running, started } = calls;
  return { port, heap: heapUsed + external, running, started } satisfies Held;
});
