import { longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import { runScenario, scenariosHere } from './scenarios.ts';

for (const [what, isThere] of Object.entries({ Redis: hasRedis, MongoDB: mongodbUri !== undefined }))
  if (!isThere) process.stderr.write(`SKIPPED: faults of ${what}, which this machine does not have.\n`);

const seed = Number(process.env['TEST_SEED'] ?? 1);
// The long form has all: each other run a sixth, and another one.
const scenarios = scenariosHere().filter((_, at) => longForm || (at + seed) % 6 === 0);

// They wait most of the time.
it.concurrent.each(scenarios)(
  'with the fault "$fault", clients of a service with its state in $state on $server lose nothing, repeat nothing and recover',
  async (scenario) => {
    const { lines, violations } = await runScenario(scenario, seed);
    expect(violations.length === 0 ? [] : [...lines, ...violations]).toEqual([]);
  },
);
