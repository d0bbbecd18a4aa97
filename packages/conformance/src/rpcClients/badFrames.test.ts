import { expect, it } from 'vitest';
import { badFrames, shortBadFrames } from './badFrames.ts';

it.each(['official', 'gateway'] as const)(
  'malformed frames and messages are answered with an error, or end their connection: %s',
  async (subject) => {
    const { faults } = await badFrames({ subject, seed: 1, ...shortBadFrames });
    expect(faults).toEqual([]);
  },
);
