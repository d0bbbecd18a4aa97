import { expect, it } from 'vitest';
import { SubscriptionStarts } from './subscriptionStarts.ts';

it('a subscription that throws when it starts does not block those after it', () => {
  const starts = new SubscriptionStarts({ callTimeoutMs: 1000, maxInFlight: 4 });
  const begun: number[] = [];
  const socket = {};
  const add = (id: number) => {
    const startNow = () => {
      begun.push(id);
      if (id === 3) throw new Error('broken');
    };
    starts.add({ startedAt: performance.now(), startNow, reject() {} }, socket);
  };
  for (const id of [1, 2, 3, 4]) add(id);
  expect(begun).toEqual([1, 2]);
  expect(() => starts.ended()).toThrow('broken');
  starts.ended();
  expect(begun).toEqual([1, 2, 3, 4]);
});
