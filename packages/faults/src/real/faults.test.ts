import { longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import type { Report } from '../history/runHistory.ts';
import { outageMs, runScenario, scenariosHere } from './scenarios.ts';

for (const [what, isThere] of Object.entries({ Redis: hasRedis, MongoDB: mongodbUri !== undefined }))
  if (!isThere) process.stderr.write(`SKIPPED: faults of ${what}, which this machine does not have.\n`);

const { FAULT, KILLS_DATABASE, ROUNDS = '1', STATE } = process.env;
const seed = Number(process.env['TEST_SEED'] ?? 1);
// The long form has all: each other run those of the pet store's stores, and a sixth of the rest, another one each time.
const runs = scenariosHere()
  .filter(({ fault, state }, at) => {
    if (STATE !== undefined && state !== STATE) return false;
    if (FAULT !== undefined) return fault.includes(FAULT);
    return longForm || state === 'embedded' || state === 'database' || (at + seed) % 6 === 0;
  })
  .flatMap((scenario) =>
    Array.from({ length: Number(ROUNDS) }, (_, round) => ({ ...scenario, seed: seed + round })),
  )
  .map((scenario) => Object.assign(Promise.withResolvers<Report>(), scenario));

// Six at a time, which share the iterator: they wait most of the time. One that kills a database is alone.
const waiting = runs.values();
async function runWaiting(): Promise<void> {
  for (const { promise, reject, resolve, ...run } of waiting) {
    promise.catch(() => {});
    await runScenario(run, run.seed).then(resolve, reject);
  }
}
for (let at = 0; at < (KILLS_DATABASE === undefined ? 6 : 1); at += 1) void runWaiting();

it.each(runs)(
  'with the fault "$fault" and the seed $seed, clients of a service with its state in $state on $server lose nothing, repeat nothing and recover',
  async ({ fault, promise, server, state, ...run }) => {
    const { figures, lines, violations } = await promise;
    if (outageMs > 0) process.stdout.write(`${state}, ${fault}, ${server}, seed ${run.seed}: ${figures}\n`);
    expect(violations.length === 0 ? [] : [...lines, ...violations]).toEqual([]);
  },
  400_000 + 4 * outageMs,
);
