/** `node --conditions=@petstore/source fuzz.ts [count]`: 100,000 raw requests that chance has made; TEST_SEED repeats a run. */
import { adapterOfRun } from '../adapters.ts';
import { testSeed } from '../testSeed.ts';
import { describeReceived } from './send.ts';
import { gatewayServer, type RawServer } from './hosts.ts';
import { isOfTheParser } from './responses.ts';
import { judge } from './judge.ts';
import { openLanes } from './lanes.ts';
import { mutation } from './mutate.ts';
import { readStrictly } from './strictReader.ts';

export interface Fuzzed {
  /** What should not be, with what shows it. */
  readonly faults: readonly string[];
  /** How many connections were served in full, in part or not at all; whose answers; and what is known. */
  readonly counts: Readonly<Record<string, number>>;
}

const width = 32;
const isUws = adapterOfRun() === 'uws';

/**
 * Sends mutations of good requests, from number `from` on, and compares what was run with what a strict reader finds. A
 * crash ends the process: the numbers under way were the last.
 */
export async function fuzz(
  seed: number,
  count: number,
  open: () => Promise<RawServer> = gatewayServer,
): Promise<Fuzzed> {
  const lanes = await openLanes(open, width);
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  const tally = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  let number = 0;
  const worker = async () => {
    while (number < count) {
      const mine = number;
      number += 1;
      const pieces = mutation(seed, mine);
      const { requests, isHidden } = readStrictly(pieces.join(''), isUws);
      const deeds = await lanes.run(pieces, { responses: requests.length, quietMs: 15, settleMs: 3 });
      const { exchanged, handled } = deeds;
      tally(
        handled.length === 0
          ? 'served nothing'
          : handled.length < requests.length
            ? 'served some'
            : 'served all',
      );
      for (const response of exchanged.responses)
        tally(isOfTheParser(response) ? 'answers of the parser' : 'answers of ours');
      const found = judge(requests, {
        ...deeds,
        names: requests.some((target) => target === 'POST /v1/pets') ? [] : deeds.names,
      });
      if (found.length === 0) continue;
      if (isHidden) tally('known: hidden by the parser');
      else
        faults.push(
          `${mine}: ${found.join(' ')} ${describeReceived(exchanged)}\n  ${JSON.stringify(pieces).slice(0, 1200)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  await lanes.close();
  return { faults, counts };
}

if (process.argv[1] === import.meta.filename) {
  const count = Number(process.argv[2] ?? 100_000);
  const { faults, counts } = await fuzz(testSeed, count);
  process.stdout.write(
    `${JSON.stringify({ seed: testSeed, count, ...counts, faults: faults.length }, null, 2)}\n`,
  );
  for (const fault of faults.slice(0, 20)) process.stderr.write(`FAULT ${fault}\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
