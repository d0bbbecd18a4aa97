import { describe, expect, test } from 'vitest';
import { operationDescription } from './operationDescription.ts';

const meta = { method: 'GET', path: '/a' } as const;
const since = new Date('2026-11-20T00:00:00Z');
const sunset = new Date('2030-12-05T00:00:00Z');

describe("an operation's description", () => {
  test.for([
    ['is what the metadata says', { description: 'Gets it.' }, 'Gets it.'],
    ['is none where the metadata has none', {}, undefined],
    [
      'ends, of a deprecated one, with its days',
      { description: 'Gets it.', deprecation: { since, sunset } },
      'Gets it. Deprecated since 20 November 2026, removed on 5 December 2030.',
    ],
    [
      'is that alone where the metadata says no more, and no end is set',
      { deprecation: { since } },
      'Deprecated since 20 November 2026.',
    ],
  ] as const)('%s', ([, said, description]) => {
    expect(operationDescription({ ...meta, ...said })).toBe(description);
  });
});
