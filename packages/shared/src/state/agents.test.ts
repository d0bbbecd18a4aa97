import { commandMissing } from '@petstore/testing/commandMissing';
import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, it } from 'vitest';
import { mayBeCut, type Outcome } from './testing/agents/agent.ts';
import { agentsOnDatabase, agentsOnFolder } from './testing/agents/agentTest.ts';

const timeout = 120_000;

it.skipIf(commandMissing('strace'))(
  'agents that repeat calls of a tool with their keys place each order once, while the service is killed, replies are lost and its state folder fails, in 6 rounds',
  { timeout },
  async () => {
    const { lost, replayed, violations } = await agentsOnFolder(6);
    expect(violations).toEqual([]);
    expect(Math.min(lost, replayed)).toBeGreaterThan(0);
  },
);

it.skipIf(mongodbUri === undefined)(
  'agents that repeat calls of a tool with their keys place each order once, while the service is killed, replies are lost and its database fails, in 6 rounds',
  { timeout },
  async () => {
    const { lost, replayed, violations } = await agentsOnDatabase(6);
    expect(violations).toEqual([]);
    expect(Math.min(lost, replayed)).toBeGreaterThan(0);
  },
);

const lost: Outcome = { kind: 'lost' };
const interrupted: Outcome = { kind: 'interrupted' };
const running: Outcome = { kind: 'rejected', status: 409 };
const unavailable: Outcome = { kind: 'rejected', status: 503 };

it.each<[isCut: boolean, attempts: readonly (readonly [kills: number, outcome: Outcome])[]]>([
  [
    true,
    [
      [0, lost],
      [1, interrupted],
    ],
  ],
  [
    true,
    [
      [4, lost],
      [5, running],
      [5, running],
      [5, interrupted],
    ],
  ],
  [
    true,
    [
      [0, unavailable],
      [1, running],
      [1, interrupted],
    ],
  ],
  // The call may have begun with the second attempt, or run until the kill after it.
  [
    true,
    [
      [0, lost],
      [0, unavailable],
      [1, interrupted],
    ],
  ],
  [
    true,
    [
      [0, lost],
      [0, running],
      [1, running],
      [1, interrupted],
    ],
  ],
  [
    false,
    [
      [0, lost],
      [0, interrupted],
    ],
  ],
  [
    false,
    [
      [0, lost],
      [0, running],
      [0, interrupted],
    ],
  ],
  // The service was killed when the key was blocked.
  [
    false,
    [
      [0, lost],
      [0, running],
      [0, running],
      [1, running],
      [1, interrupted],
    ],
  ],
  [
    false,
    [
      [0, lost],
      [0, running],
      [0, running],
      [1, running],
      [2, interrupted],
    ],
  ],
])('in the test of agents, that a kill may have cut a call with a key is %j for %j', (isCut, attempts) => {
  expect(mayBeCut(attempts.map(([kills, outcome]) => ({ kills, outcome })))).toBe(isCut);
});
