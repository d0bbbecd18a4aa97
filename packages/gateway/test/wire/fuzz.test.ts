import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { needs } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { findProblems } from './findProblems.ts';
import { mutation } from './mutation.ts';
import { openServerPool } from './rawServers.ts';
import { isParserError } from './responses.ts';
import { describeReceived } from './send.ts';
import { readStrictly } from './strictReader.ts';

const count = inputs(3000);
const concurrency = 32;
const isUws = adapterOfRun() === 'uws';

it('a server runs only those requests in randomly mutated bytes that a strict reader finds', async () => {
  needs('a port');
  const pool = await openServerPool(concurrency);
  /** Violations, each with the bytes that show it. */
  const problems: string[] = [];
  /** Counts of connections (all, some or no requests served), of responses by source, and of known limitations. */
  const counts: Record<string, number> = {};
  const tally = (kind: string) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const runs = Array.from({ length: count }, async (_, index) => {
    const pieces = mutation(testSeed, index);
    const { requests, isHidden } = readStrictly(pieces.join(''), isUws);
    const outcome = await pool.run(pieces, { responses: requests.length, quietMs: 15, settleMs: 3 });
    const { received, handled } = outcome;
    const share = handled.length < requests.length ? 'some' : 'all';
    tally(`served ${handled.length === 0 ? 'nothing' : share}`);
    for (const response of received.responses)
      tally(isParserError(response) ? 'responses of the parser' : 'responses of the gateway');
    const storedNames = requests.includes('POST /v1/pets') ? [] : outcome.storedNames;
    const violations = findProblems(requests, { ...outcome, storedNames });
    if (violations.length > 0 && isHidden) tally('known: hidden by the parser');
    else if (violations.length > 0) {
      const bytes = JSON.stringify(pieces).slice(0, 1200);
      problems.push(`${index}: ${violations.join(' ')} ${describeReceived(received)}\n  ${bytes}`);
    }
  });
  await Promise.all(runs);
  await pool.close();
  process.stdout.write(`Fuzzed raw HTTP: ${count}: ${JSON.stringify(counts)}\n`);
  expect(problems.slice(0, 5), `${problems.length} of ${count}; ${seedMessage}`).toEqual([]);
  // Enough mutations are valid requests, and enough reach the gateway.
  expect(counts['served all']).toBeGreaterThan(count / 5);
  expect(counts['responses of the gateway']).toBeGreaterThan(count / 5);
});
