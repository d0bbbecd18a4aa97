import { expect, it, onTestFinished, vi } from 'vitest';
import { operationDescription } from './deprecation.ts';

const since = new Date('2026-11-20T00:00:00Z');
const sunset = new Date('2030-12-05T23:30:00Z');

it.each(['America/New_York', 'Pacific/Auckland'])(
  'the description of a deprecated operation ends with its dates, in UTC on a server in %s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    // Make sure that the time zone is in effect.
    expect(since.getTimezoneOffset()).not.toBe(0);
    expect(operationDescription({ deprecation: { since } })).toBe('Deprecated since 20 November 2026.');
    expect(operationDescription({ description: 'Gets it.', deprecation: { since, sunset } })).toBe(
      'Gets it. Deprecated since 20 November 2026, removed on 5 December 2030.',
    );
  },
);
