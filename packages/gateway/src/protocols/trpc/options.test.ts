import { expect, it } from 'vitest';
import { withSocketLimits } from './options.ts';

it.each([
  [Infinity, 65_536],
  [65_537, 65_536],
  [65_536, 65_536],
  [65_535, 65_535],
  [99.5, 100],
])('with maxBodyBytes %s, maxMessageBytes is %s by default', (maxBodyBytes, maxMessageBytes) => {
  expect(withSocketLimits({}, maxBodyBytes).maxMessageBytes).toBe(maxMessageBytes);
  expect(withSocketLimits({ maxMessageBytes: 70_000 }, maxBodyBytes).maxMessageBytes).toBe(70_000);
});
