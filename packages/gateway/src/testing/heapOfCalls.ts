// Prints by how many bytes the heap grows while 10,000 more calls than before complete. Needs --expose-gc.
import { inProcessRequest } from './inProcessRequest.ts';
import { CallRunner } from '../calls/callRunner.ts';
import { limitsOf } from '../calls/limits.ts';
import { CallContext } from '../calls/requestContext.ts';

const collect = globalThis.gc as (options?: { type: 'minor' }) => void;
const calls = new CallRunner(limitsOf({}));

async function heapAfter(count: number): Promise<number> {
  for (let at = 0; at < count; at += 1) {
    const payload = Array.from({ length: 100 }, () => at + 0.5);
    calls.wait(Promise.resolve(), new CallContext(inProcessRequest('GET', '/')), () => payload);
    // 32 calls overlap.
    if (at % 32 === 0) await Promise.resolve();
    if (at % 2000 === 0) collect({ type: 'minor' });
  }
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  return process.memoryUsage().heapUsed;
}

let growth = Infinity;
// Again if the collector happened to mark the whole heap meanwhile, which promotes what it finds.
for (let attempt = 0; growth > 8_000_000 && attempt < 3; attempt += 1) {
  collect();
  const before = await heapAfter(10_000);
  growth = (await heapAfter(20_000)) - before;
}
process.stdout.write(`${growth}\n`);
