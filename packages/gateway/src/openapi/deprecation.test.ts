import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { operationDescription } from './deprecation.ts';

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

  test.for(['America/New_York', 'Pacific/Auckland'])(
    'the days in the description of a deprecated operation are those of UTC on a server in %s',
    (zone) => {
      vi.stubEnv('TZ', zone);
      onTestFinished(() => void vi.unstubAllEnvs());
      // A server in that zone: else the test would show nothing.
      expect(since.getTimezoneOffset()).not.toBe(0);
      const end = new Date('2030-12-05T23:30:00Z');
      expect(operationDescription({ ...meta, deprecation: { since, sunset: end } })).toBe(
        'Deprecated since 20 November 2026, removed on 5 December 2030.',
      );
    },
  );
});
