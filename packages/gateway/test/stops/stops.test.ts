import { longForm } from '@petstore/testing/forms';
import { slowness } from '@petstore/testing/slowness';
import { expect, it } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { needs } from '../servers.ts';
import { stopRound } from './stopRound.ts';

// The long form: `npm run test:stops -w trpc-gateway-test`.
const rounds = longForm ? 200 : 3;

it(
  `each call over every protocol is answered or does not run, in ${rounds} stops under load`,
  { timeout: rounds * 30_000 * slowness },
  async ({ annotate }) => {
    needs('a port');
    const sum: Record<string, number> = {};
    let refusals = 0;
    for (let round = 0; round < rounds; round += 1) {
      const { answered, dropped, refused, cut } = await stopRound(round);
      // Bun closes idle connections at once, whatever is on its way to them.
      const lost = adapterOfRun() === 'bun' ? dropped : [...dropped, ...refused];
      expect({ round, lost }).toEqual({ round, lost: [] });
      expect(cut).toBe(2);
      refusals += refused.length;
      for (const [protocol, count] of Object.entries(answered)) sum[protocol] = (sum[protocol] ?? 0) + count;
    }
    expect(Object.keys(sum)).toHaveLength(9);
    await annotate(`answered ${JSON.stringify(sum)}, refused ${refusals}`);
  },
);
