import { expect, it } from 'vitest';
import { statusText } from './statusText.ts';

it('statusText returns the reason phrase of a status, and "Unknown" for one that has none', () => {
  expect([statusText(404), statusText(299)]).toEqual(['Not Found', 'Unknown']);
});
