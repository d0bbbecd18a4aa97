import { expect, test } from 'vitest';
import { Histogram } from './histogram.ts';

test('a duration that equals a bucket’s upper bound counts in that bucket, as Prometheus defines `le`', () => {
  const latency = new Histogram();
  latency.observe(0.0005);
  latency.observe(30);
  const counts = new Map(latency.samples('s', {}).map(({ labels, value }) => [labels.le, value]));
  expect([counts.get(0.0005), counts.get(10), counts.get(30), counts.get('+Inf')]).toEqual([1, 1, 2, 2]);
});
