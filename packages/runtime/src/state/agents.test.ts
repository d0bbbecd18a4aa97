import { commandMissing } from '@petstore/testing/commandMissing';
import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, it } from 'vitest';
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
