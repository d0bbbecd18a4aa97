import { expect, test } from 'vitest';
import { eventually } from './eventually.ts';

test('eventually resolves when the condition holds', async () => {
  let count = 0;
  await eventually(
    () => 'three',
    async () => (count += 1) === 3,
  );
  expect(count).toBe(3);
});

test('eventually rejects after the deadline, and names what it waited for', async () => {
  await expect(
    eventually(
      () => 'three',
      () => false,
      10,
    ),
  ).rejects.toThrow('Not within 10 ms: three');
});
