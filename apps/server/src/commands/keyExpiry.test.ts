import { describe, expect, test } from 'vitest';
import { keyExpiry } from './keyExpiry.ts';

const now = Date.parse('2026-11-21T10:00:00.000Z');

describe('--expires', () => {
  test.for([
    ['90m', '2026-11-21T11:30:00.000Z'],
    ['30d', '2026-12-21T10:00:00.000Z'],
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T08:00:00.5+02:00', '2027-01-31T06:00:00.500Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('--expires %s is %s', ([text, instant]) => {
    expect(new Date(keyExpiry(text ?? '', now)).toISOString()).toBe(instant);
  });

  test.for([
    '',
    '-1d',
    '1.5d',
    '1d ',
    '1y',
    '9007199254740993m',
    '2027-02-30',
    '2027-01-31T08:00:00',
    '2027-01-31T25:00:00Z',
    'tomorrow',
    '9999-12-31T23:59:59.999-00:01',
  ])('--expires %j is rejected as invalid', (text) => {
    expect(() => keyExpiry(text, now)).toThrow(
      `--expires is ${JSON.stringify(text)}; it must be a time from now (90m, 12h, 30d), a date (2030-01-31) or an instant (2030-01-31T08:00:00Z).`,
    );
  });

  test.for(['0d', '2026-11-21', '2026-11-21T10:00:00Z', '1970-01-01'])(
    '--expires %s is rejected because it is not in the future',
    (text) => {
      expect(() => keyExpiry(text, now)).toThrow(
        `--expires is ${JSON.stringify(text)}; it must be in the future.`,
      );
    },
  );
});
