import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { operationDescription } from './deprecation.ts';

const meta = { method: 'GET', path: '/a' } as const;
const since = new Date('2026-11-20T00:00:00Z');
const sunset = new Date('2030-12-05T00:00:00Z');

describe('operationDescription', () => {
  test.for([
    ['Gets it.', { description: 'Gets it.' }],
    [undefined, {}],
    [
      'Gets it. Deprecated since 20 November 2026, removed on 5 December 2030.',
      { description: 'Gets it.', deprecation: { since, sunset } },
    ],
    ['Deprecated since 20 November 2026.', { deprecation: { since } }],
  ] as const)('the description of an operation is "%s" with the metadata %j', ([description, metadata]) => {
    expect(operationDescription({ ...meta, ...metadata })).toBe(description);
  });

  test.for(['America/New_York', 'Pacific/Auckland'])(
    'the description of a deprecated operation has dates in UTC on a server in %s',
    (zone) => {
      vi.stubEnv('TZ', zone);
      onTestFinished(() => void vi.unstubAllEnvs());
      // Make sure that the time zone is in effect.
      expect(since.getTimezoneOffset()).not.toBe(0);
      const end = new Date('2030-12-05T23:30:00Z');
      expect(operationDescription({ ...meta, deprecation: { since, sunset: end } })).toBe(
        'Deprecated since 20 November 2026, removed on 5 December 2030.',
      );
    },
  );
});
