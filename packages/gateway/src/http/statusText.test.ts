import { STATUS_CODES } from 'node:http';
import { expect, it } from 'vitest';
import { statusText } from './statusText.ts';

it('statusText returns the reason phrase of a status, and "Unknown" for one that has none', () => {
  expect([statusText(404), statusText(299)]).toEqual(['Not Found', 'Unknown']);
});

it('statusText returns the same phrases as STATUS_CODES of Node', () => {
  const statuses = Object.keys(STATUS_CODES).map(Number);
  expect(statuses.map(statusText)).toEqual(Object.values(STATUS_CODES));
});
