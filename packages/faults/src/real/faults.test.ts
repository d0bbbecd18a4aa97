import { longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import { scenariosOf, runScenarios } from './scenarios.ts';

for (const [what, isThere] of Object.entries({ Redis: hasRedis, MongoDB: mongodbUri !== undefined }))
  if (!isThere) process.stderr.write(`SKIPPED: faults of ${what}, which this machine does not have.\n`);

const seed = Number(process.env['TEST_SEED'] ?? 1);
// The long form has all: each other run a sixth, and another one.
const scenarios = scenariosOf().filter((_, at) => longForm || (at + seed) % 6 === 0);
const reports = runScenarios(scenarios, { parallel: 6, seeds: [seed] });

it.each(scenarios.map(({ fault, server, state }, at) => ({ fault, server, state, report: reports[at] })))(
  'with the fault "$fault", clients of a service with its state in $state on $server lose nothing, repeat nothing and recover',
  async ({ report }) => {
    expect(await report).toMatchObject({ violations: [], rounds: 1 });
  },
);
