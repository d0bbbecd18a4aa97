import { longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import type { Report } from '../history/runHistory.ts';
import { runScenario, scenariosHere } from './scenarios.ts';

for (const [what, isThere] of Object.entries({ Redis: hasRedis, MongoDB: mongodbUri !== undefined }))
  if (!isThere) process.stderr.write(`SKIPPED: faults of ${what}, which this machine does not have.\n`);

const { FAULT, KILLS_DATABASE } = process.env;
const seed = Number(process.env['TEST_SEED'] ?? 1);
// The long form has all: each other run those of the pet store's stores, and a sixth of the rest, another one each time.
const runs = scenariosHere()
  .filter(({ fault, state }, at) => {
    if (FAULT !== undefined) return fault.includes(FAULT);
    return longForm || state === 'embedded' || state === 'database' || (at + seed) % 6 === 0;
  })
  .map((scenario) => Object.assign(Promise.withResolvers<Report>(), scenario));

// Six at a time, which share the iterator: they wait most of the time. One that kills a database is alone.
const waiting = runs.values();
async function runWaiting(): Promise<void> {
  for (const { promise, reject, resolve, ...scenario } of waiting) {
    promise.catch(() => {});
    await runScenario(scenario, seed).then(resolve, reject);
  }
}
for (let at = 0; at < (KILLS_DATABASE === undefined ? 6 : 1); at += 1) void runWaiting();

it.each(runs)(
  'with the fault "$fault", clients of a service with its state in $state on $server lose nothing, repeat nothing and recover',
  async ({ promise }) => {
    const { lines, violations } = await promise;
    expect(violations.length === 0 ? [] : [...lines, ...violations]).toEqual([]);
  },
);
