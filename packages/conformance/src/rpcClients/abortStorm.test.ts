import { expect, it } from 'vitest';
import { abortStorm, shortStorm } from './abortStorm.ts';

it('clients that go away at any moment leave no call running and no memory behind', async () => {
  const { faults } = await abortStorm({ subject: 'gateway', seed: 1, ...shortStorm });
  expect(faults).toEqual([]);
});
