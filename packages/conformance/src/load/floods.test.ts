import { expect, it } from 'vitest';
import { briefFloods, measureFloods } from './floods.ts';

it(
  'floods of pipelined requests, of one-byte chunks and of endless bodies on few connections do not delay other clients',
  { timeout: 120_000 },
  async () => {
    const { faults } = await measureFloods(briefFloods);
    expect(faults).toEqual([]);
  },
);
