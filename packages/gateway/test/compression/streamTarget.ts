import { collectGarbage } from '@petstore/testing/collectGarbage';
/** A server of compressed streams, started by `startPinned`. It answers each message with what it holds. */
import { listen } from '../listen.ts';
import { respondToParent } from '../load/pinned.ts';
import { createCompressedGateway, Gate } from './compressedGateway.ts';

export interface HeldStreams {
  readonly port: number;
  /** Subscriptions that run. */
  readonly open: number;
  /** JavaScript's heap, and external memory, such as that of encoders, in bytes, after a garbage collection. */
  readonly bytes: number;
}

const gate = new Gate();
const { port } = await listen(await createCompressedGateway({ maxInFlight: Infinity }, gate));

respondToParent(async () => {
  collectGarbage();
  const { external, heapUsed } = process.memoryUsage();
  return { port, open: gate.open, bytes: heapUsed + external } satisfies HeldStreams;
});
