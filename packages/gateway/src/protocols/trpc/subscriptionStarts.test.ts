import { expect, it, vi } from 'vitest';
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

it('thousands of waiting subscriptions that end as they start do not start within each other', async () => {
  const starts = new SubscriptionStarts({ callTimeoutMs: 60_000, maxInFlight: 2 });
  let depth = 0;
  let deepest = 0;
  let begun = 0;
  const add = (isFirst: boolean) => {
    const startNow = () => {
      depth += 1;
      begun += 1;
      deepest = Math.max(deepest, depth);
      if (!isFirst) starts.ended();
      depth -= 1;
    };
    starts.add({ startedAt: performance.now(), startNow, reject() {} }, {});
  };
  for (let id = 0; id < 5000; id += 1) add(id === 0);
  starts.ended();
  await vi.waitFor(() => expect(begun).toBe(5000));
  expect(deepest).toBe(1);
});
