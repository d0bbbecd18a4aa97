import { everyForm, inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { testSeed } from '../testSeed.ts';
import { badFrames, shortBadFrames } from './badFrames.ts';

it.each(everyForm ? (['official', 'gateway'] as const) : (['gateway'] as const))(
  'the %s server answers malformed frames and messages with an error or closes the connection',
  async (subject) => {
    needs('a port');
    const { problems } = await badFrames({
      subject,
      seed: testSeed,
      messages: inputs(shortBadFrames.messages),
    });
    expect(problems, `TEST_SEED=${testSeed} repeats this run.`).toEqual([]);
  },
);
